import fc from 'fast-check'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anyFields } from './dns-values'

/** Record types that BIND supports: all except ALIAS. */
export const bindTypes = Object.keys(anyFields).filter(type => type !== 'ALIAS')

/** Fields of a type that BIND 9.18 can read. It knows SVCB keys by name only up to dohpath. */
export const bindFields = (type: string, numRuns: number, seed: number) =>
  fc.sample(
    anyFields[type]!.filter(fields => !/"ohttp"|"tls-supported-groups"/.test(JSON.stringify(fields))),
    { numRuns, seed },
  )

/** A zone file as BIND parses it, one record per line. @param origin with a trailing dot */
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
    // Drop the resign time, which depends on the current second.
    return lines.filter(line => !line.startsWith('; resign='))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
