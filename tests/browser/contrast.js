// Texts on the page whose contrast with what is behind them is under that of WCAG 2.2, level AA.
() => {
  const over = ([r, g, b, a = 1], [R, G, B]) => [r, g, b].map((c, i) => c * a + [R, G, B][i] * (1 - a));
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  // Any colour that CSS can write, as red, green, blue and opacity.
  const painted = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(painted(getComputedStyle(at).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const style = getComputedStyle(element);
    if (!own || element.closest(".paper, script, :disabled, option") || !element.checkVisibility()) continue;
    const ink = painted(element.closest("svg") ? style.fill : style.color);
    const back = behind(element);
    const [a, b] = [light(over(ink, back)), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`${element.className || element.tagName} ${element.textContent.trim().slice(0, 20)}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
}
