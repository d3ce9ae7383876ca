// The whole page: a bar on top, the report or the items below.

function Page() {
  const { link, go, stay } = useLink();
  const { theme, toggle } = useTheme();
  useEffect(() => {
    document.body.dataset.view = link.view;
    if (link.view !== "report" || !link.section) return;
    if (link.section === "summary") scrollTo(0, 0);
    else document.getElementById(link.section)?.scrollIntoView();
  }, [link.view, link.section]);
  const sections = [["summary", "Summary"], report.figures.length && ["figures", "Figures"], ["tables", "Tables"]];
  return html`<a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      document.querySelector("#main :is(a, button, input, select, [tabindex])")?.focus();
    }}>To the content</a>
    <header class="top">
      <span class="brand">Felicity</span>
      <nav aria-label="Parts of this page">
        ${sections.filter(Boolean).map(
          ([section, word]) => html`<a href=${`#${section}`} aria-current=${link.view === "report" && (link.section || "summary") === section ? "page" : undefined}>${word}</a>`,
        )}
        ${names.length > 0 && html`<a href="#item=" aria-current=${link.view === "items" ? "page" : undefined}>Items</a>`}
      </nav>
      <button class="quiet theme" onClick=${toggle} aria-label=${`Switch to ${theme === "dark" ? "light" : "dark"} colours`}>
        ${THEMES[theme === "dark" ? "light" : "dark"]}
      </button>
    </header>
    ${link.view === "report" || names.length === 0 ? html`<${Report} />` : html`<${Items} link=${link} go=${go} stay=${stay} />`}`;
}

render(html`<${Page} />`, document.getElementById("root"));
