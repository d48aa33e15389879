import { inArray, and, eq, isNull } from 'drizzle-orm'
import { InvalidCheckInput } from '../../checks/check'
import { parseHostPort } from '../../checks/host-port'
import { scanProtocols, type ScanProtocol } from '../../checks/tls-probe/facts'
import { auditDrafts, change } from '../../core/change'
import type { ChangeResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import { invalid, Problem, type FieldProblem } from '../../core/problem'
import { insertEndpoint, locationOf, validMembers } from './endpoints'
import { usualPorts } from './grades/shapes'
import { maxImportLines, type TlsEndpointImport, type TlsEndpointInput, type TlsEndpointView } from './shapes'
import { tlsEndpoints } from './tables'

/**
 * Creates the endpoints of a list with one `host:port[/protocol]` on each line. Those that exist already are left as they are.
 * @throws Problem 403 if the limit is reached, 422 for each invalid line, at `#/lines/<number>`
 */
export async function importTlsEndpoints(ctx: Ctx, bytes: Uint8Array): Promise<TlsEndpointImport> {
  const listed = await readLines(ctx, new TextDecoder().decode(bytes))
  const locations = [...listed.keys()]
  return await change(ctx, 'certificates.tls_endpoint.import', async tx => {
    const known = new Set(
      locations.length === 0
        ? []
        : (
            await tx
              .select({ location: tlsEndpoints.location })
              .from(tlsEndpoints)
              .where(
                and(
                  eq(tlsEndpoints.workspaceId, ctx.workspaceId),
                  isNull(tlsEndpoints.goneAt),
                  inArray(tlsEndpoints.location, locations),
                ),
              )
          ).map(row => row.location),
    )
    const created: ChangeResult<TlsEndpointView>[] = []
    for (const [location, members] of listed) if (!known.has(location)) created.push(await insertEndpoint(tx, ctx, members))
    return {
      result: { created: created.length, existing: known.size, ids: created.map(one => one.result.id) },
      target: [],
      unchanged: created.length === 0,
      audits: created.flatMap(one => auditDrafts(ctx, 'certificates.tls_endpoint.create', one)),
      jobs: created.flatMap(one => one.jobs ?? []),
    }
  })
}

/** The endpoints of a list by their location. @throws Problem 422 */
async function readLines(ctx: Ctx, text: string): Promise<Map<string, Awaited<ReturnType<typeof validMembers>>>> {
  const lines = text.split('\n')
  const problems: FieldProblem[] = []
  const found = new Map<string, Awaited<ReturnType<typeof validMembers>>>()
  for (const [at, line] of lines.entries()) {
    const entry = line.trim()
    if (entry === '' || entry.startsWith('#')) continue
    const pointer = `#/lines/${at + 1}`
    try {
      const members = await validMembers(ctx, parseLine(entry))
      found.set(locationOf(members), members)
    } catch (error) {
      if (error instanceof InvalidCheckInput) problems.push({ pointer, code: 'format', detail: error.message })
      else if (error instanceof Problem && error.extras.errors)
        problems.push(...error.extras.errors.map(one => ({ ...one, pointer })))
      else throw error
    }
    if (found.size > maxImportLines)
      throw invalid([
        { pointer, code: 'too_long', detail: `is one line too many. An import can have at most ${maxImportLines}.` },
      ])
    if (problems.length >= maxProblems) break
  }
  if (problems.length > 0) throw invalid(problems)
  return found
}

const maxProblems = 20

/** @throws InvalidCheckInput */
function parseLine(line: string): TlsEndpointInput {
  const [, target, name] = /^(.*?)(?:\/([^/]*))?$/.exec(line)!
  const protocol = (name ?? 'tls') as ScanProtocol
  if (!scanProtocols.includes(protocol)) throw new InvalidCheckInput('', `must end with a protocol: ${scanProtocols.join(', ')}.`)
  return { ...parseHostPort(target!, usualPorts[protocol]), protocol }
}
