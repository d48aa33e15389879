import { useNavigate, useSearch } from '@tanstack/react-router'

type Words<Names extends string> = Record<Names, string>

/**
 * What a page shows as part of its address: filters, order, an open panel. `empty` names the members with their values when
 * the address has none. Setting one puts it there; the way back in the browser's history leads through pages, not keystrokes.
 */
export function useAddress<Names extends string>(empty: Words<Names>): [Words<Names>, (changed: Partial<Words<Names>>) => void] {
  const search: Record<string, string | undefined> = useSearch({ strict: false })
  const navigate = useNavigate()
  const names = Object.keys(empty) as Names[]
  const found = Object.fromEntries(
    names.map(name => [name, search[name] === undefined ? empty[name] : String(search[name])]),
  ) as Words<Names>
  const set = (changed: Partial<Words<Names>>) => {
    const next: Record<string, string | undefined> = { ...search, ...changed }
    for (const name of names) if (next[name] === empty[name]) delete next[name]
    void navigate({ to: '.', search: next, replace: true, resetScroll: false })
  }
  return [found, set]
}
