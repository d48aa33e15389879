import { useNavigate, useSearch } from '@tanstack/react-router'

type Params<Names extends string> = Record<Names, string>

/**
 * Keeps the state of a page in the search parameters of its URL: filters, sorting, an open panel. `defaults` lists the parameters
 * with their values when absent. Changes replace the history entry, so that Back goes to the previous page.
 */
export function useUrlState<Names extends string>(
  defaults: Params<Names>,
): [Params<Names>, (changed: Partial<Params<Names>>) => void] {
  const search: Record<string, string | undefined> = useSearch({ strict: false })
  const navigate = useNavigate()
  const names = Object.keys(defaults) as Names[]
  const state = Object.fromEntries(
    names.map(name => [name, search[name] === undefined ? defaults[name] : String(search[name])]),
  ) as Params<Names>
  const set = (changed: Partial<Params<Names>>) => {
    const next: Record<string, string | undefined> = { ...search, ...changed }
    for (const name of names) if (next[name] === defaults[name]) delete next[name]
    void navigate({ to: '.', search: next, replace: true, resetScroll: false })
  }
  return [state, set]
}
