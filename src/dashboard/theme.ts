export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'bailiwick.theme'
const prefersDark = matchMedia('(prefers-color-scheme: dark)')

export const chosenTheme = (): Theme => (localStorage.getItem(storageKey) as Theme | null) ?? 'system'

/** Applies a theme and stores it in this browser. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, theme)
  showTheme()
}

/** Applies the selected theme to the document. Follows the system if none was selected. */
export function showTheme(): void {
  const theme = chosenTheme()
  document.documentElement.dataset.theme = theme === 'system' ? (prefersDark.matches ? 'dark' : 'light') : theme
}

prefersDark.addEventListener('change', showTheme)
