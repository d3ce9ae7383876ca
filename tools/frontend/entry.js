// What the scripts of report.html use of their libraries; esbuild keeps this and drops the rest.
import { h, render } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import htm from "htm";

const html = htm.bind(h);

export { html, render, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState };
