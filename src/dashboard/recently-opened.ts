import { resourcePath } from './pages'

/** A resource whose page was opened in this browser. */
export interface Opened {
  id: string
  name: string
  created_at?: string | undefined
}

const maxOpened = 20
const prefix = 'bailiwick.opened.'
let key = prefix

/** Chooses whose list it is: names must not be shown to others who use this browser, or in other workspaces. */
export function setOpenedBy(userId: string, workspaceId: string): void {
  key = `${prefix}${userId}.${workspaceId}`
}

/** The resources whose pages were opened in this browser, most recent first. */
export function recentlyOpened(): Opened[] {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? '[]') as Opened[]
    // An earlier version may have stored types that no longer exist.
    return stored.filter(one => resourcePath(one.id) !== null)
  } catch {
    return []
  }
}

/** Adds a resource to the list if this is its page. */
export function noteOpened(opened: Opened): void {
  if (!isPageOf(opened)) return
  store([opened, ...recentlyOpened().filter(one => one.id !== opened.id)].slice(0, maxOpened))
}

/** Removes the resource of this page from the list, because it no longer exists. */
export const forgetOpened = (): void => store(recentlyOpened().filter(one => !isPageOf(one)))

/** Removes the lists of all workspaces, when a user signs out. */
export function clearOpened(): void {
  ifPossible(() => {
    for (const one of Object.keys(localStorage)) if (one.startsWith(prefix)) localStorage.removeItem(one)
  })
}

const store = (list: Opened[]): void => ifPossible(() => localStorage.setItem(key, JSON.stringify(list)))

/** Does without the storage of the browser if it is full or blocked. */
function ifPossible(change: () => void): void {
  try {
    change()
  } catch {}
}

function isPageOf({ id }: Opened): boolean {
  const path = resourcePath(id)
  return path !== null && path.includes(id) && `${location.pathname}/`.startsWith(`${path}/`)
}
