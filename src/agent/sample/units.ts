import type { AgentReport } from '../../wire/agent'
import { nameOf } from './line'
import { runProgram } from './program'

type Unit = NonNullable<AgentReport['units']>[number]

const maxUnits = 200
const limits = { timeoutMs: 10_000, maxBytes: 1024 * 1024 }

/** Runs systemctl. Null if it failed, which `problem` says. */
async function systemctl(args: string[], problem: (sentence: string) => void): Promise<string | null> {
  const result = await runProgram(['systemctl', ...args], limits)
  if (typeof result === 'object' && result.code === 0) return result.out
  const reason = result === 'timeout' ? `doesn’t answer within ${limits.timeoutMs / 1000} seconds` : 'failed'
  if (result !== 'missing') problem(`Units of systemd are unknown, because systemctl ${reason}.`)
  return null
}

/** Units that have failed; null if they can’t be read. */
export async function failedUnits(problem: (sentence: string) => void): Promise<Unit[] | null> {
  // Versions before 246 have no JSON.
  const output = await systemctl(
    ['list-units', '--state=failed', '--all', '--full', '--plain', '--no-legend', '--no-pager'],
    problem,
  )
  return output === null ? null : parseFailed(output)
}

/** The output of `systemctl list-units`: name, load state, active state, sub-state, and description of each unit. */
export const parseFailed = (output: string): Unit[] =>
  [...output.matchAll(/^(?:[●*×] )?\s*(\S+)\s+\S+\s+(\S+)\s+(\S+)/gm)]
    .map(([, name, active, sub]) => unitOf(name!, active!, sub!, false))
    .slice(0, maxUnits)

/** The states of watched units, by the names that were asked for; null if they can’t be read. */
export async function watchedUnits(names: readonly string[], problem: (sentence: string) => void): Promise<Unit[] | null> {
  if (names.length === 0) return []
  const output = await systemctl(['show', '--property=LoadState,ActiveState,SubState', '--', ...names], problem)
  return output === null ? null : parseShown(output, names)
}

/** The output of `systemctl show` for several units: properties of each, separated by empty lines, in the order of the names. */
export function parseShown(output: string, names: readonly string[]): Unit[] {
  const blocks = output.trim().split(/\n{2,}/)
  return names.flatMap((name, at) => {
    const value = (property: string) => new RegExp(`^${property}=(.+)$`, 'm').exec(blocks[at] ?? '')?.[1]
    const [load, active, sub] = [value('LoadState'), value('ActiveState'), value('SubState')]
    if (active === undefined) return []
    return [unitOf(name, load === 'not-found' ? load : active, sub ?? active, true)]
  })
}

const unitOf = (name: string, state: string, subState: string, watched: boolean): Unit => ({
  name: nameOf(name, 200),
  state: nameOf(state, 30),
  sub_state: nameOf(subState, 30),
  watched,
})

/** Watched units, and failed ones that are not watched. */
export const combinedUnits = (watched: readonly Unit[], failed: readonly Unit[]): Unit[] =>
  [...watched, ...failed.filter(({ name }) => !watched.some(one => [one.name, `${one.name}.service`].includes(name)))].slice(
    0,
    maxUnits,
  )
