/** Draws now, when the element is resized, and when the theme changes. @returns a function that stops it */
export function redraw(element: Element, onResize: () => void, onTheme: () => void = onResize): () => void {
  onTheme()
  const resizeObserver = new ResizeObserver(onResize)
  resizeObserver.observe(element)
  const themeObserver = new MutationObserver(onTheme)
  themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    resizeObserver.disconnect()
    themeObserver.disconnect()
  }
}
