import fc from 'fast-check'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anyFields } from './dns-values'

/** Types of records that BIND knows too: it has no ALIAS. */
export const bindTypes = Object.keys(anyFields).filter(type => type !== 'ALIAS')

/** Fields of a type that BIND 9.18 can read: it knows the keys of SVCB up to dohpath by name. */
export const bindFields = (type: string, numRuns: number, seed: number) =>
  fc.sample(
    anyFields[type]!.filter(fields => !/"ohttp"|"tls-supported-groups"/.test(JSON.stringify(fields))),
    { numRuns, seed },
  )

/** What BIND reads in a zone file, each record on a line of its own. @param origin with the dot */
export function compiled(text: string, origin: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-zone-'))
  try {
    const [from, to] = [join(folder, 'zone'), join(folder, 'out')]
    writeFileSync(from, text)
    const ignored = ['-k', '-n', '-m', '-M', '-S', '-r', '-T'].flatMap(flag => [flag, 'ignore'])
    const run = Bun.spawnSync(['named-compilezone', '-i', 'none', ...ignored, '-s', 'full', '-o', to, origin, from])
    if (run.exitCode !== 0)
      throw new Error(`BIND refuses the zone:\n${run.stdout.toString()}${run.stderr.toString()}\n${text.slice(0, 2000)}`)
    const lines = readFileSync(to, 'utf8').trim().split('\n')
    // When BIND would sign again, which depends on the second at which it is asked.
    return lines.filter(line => !line.startsWith('; resign='))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
