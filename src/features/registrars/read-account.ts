import { readCursorPages } from '../../adapters/cursor-pages'
import { incompleteList } from '../../adapters/numbered-pages'
import type { Clock } from '../../core/clock'
import type { Held, Registrar } from './registrar'

/** Domains of an account that are read. */
export const maxDomains = 100_000

/** Reads all domains of an account; never returns a part of them. @throws AdapterError */
export async function readAccount(registrar: Pick<Registrar, 'list'>, clock: Clock): Promise<Held[]> {
  const first: { at: string | null } = { at: null }
  const { rows } = await readCursorPages(
    clock,
    first,
    async ({ at }) => {
      const { domains, next } = await registrar.list(at)
      return { rows: domains, next: next === null ? null : { at: next } }
    },
    maxDomains,
  )
  const names = new Set<string>()
  for (const { name } of rows) {
    // The pages overlap, so that rows were moved while they were read, and others can be missing.
    if (names.has(name)) throw incompleteList(`${name} is on it twice`)
    names.add(name)
  }
  return rows
}
