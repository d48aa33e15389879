export type Theme = 'system' | 'light' | 'dark'

const kept = 'bailiwick.theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

export const chosenTheme = (): Theme => (localStorage.getItem(kept) as Theme | null) ?? 'system'

/** Shows the pages in this theme, and remembers it in this browser. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(kept)
  else localStorage.setItem(kept, theme)
  showTheme()
}

/** Puts the theme on the document. The scheme of the system is followed while nothing else was chosen. */
export function showTheme(): void {
  const theme = chosenTheme()
  document.documentElement.dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
}

dark.addEventListener('change', showTheme)
