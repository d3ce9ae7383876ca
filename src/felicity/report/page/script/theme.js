// Light or dark: as the system says, until the reader chooses.

const THEMES = { light: "Light", dark: "Dark" };

function storedTheme() {
  try {
    return localStorage.getItem("felicity-theme");
  } catch {
    return null;
  }
}

function useTheme() {
  const asked = matchMedia("(prefers-color-scheme: dark)");
  const [theme, setTheme] = useState(() => storedTheme() ?? (asked.matches ? "dark" : "light"));
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  useEffect(() => {
    const follow = () => storedTheme() ?? setTheme(asked.matches ? "dark" : "light");
    asked.addEventListener("change", follow);
    return () => asked.removeEventListener("change", follow);
  }, []);
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    setTheme(next);
    try {
      localStorage.setItem("felicity-theme", next);
    } catch {
      // Then it holds for this visit only.
    }
  };
  return { theme, toggle };
}
