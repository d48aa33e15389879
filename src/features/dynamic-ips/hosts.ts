import { and, eq, inArray } from 'drizzle-orm'
import { domainToASCII } from 'node:url'
import type { Ctx } from '../../core/ctx'
import { insertRows } from '../../core/db/insert-rows'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { refuseDuplicate } from '../../core/rows'
import { invalid, Problem, type FieldProblem } from '../../core/problem'
import { DnsFormatError } from '../../dns/format-error'
import { lowerName, parseName } from '../../dns/name'
import {
  recordNameOf,
  releaseRrsets,
  rrsetKey,
  takeoverFailures,
  zonesOfNames,
  zonesWithIds,
  type NamedZone,
} from '../dns/records/driven'
import { readSuffix } from './addresses'
import { typesOf } from './drive-hosts'
import type { DynamicIpHostInput } from './shapes'
import { dynamicIpHosts, dynamicIps } from './tables'
import { hostsOfSources, relativeName, type HostRow, type SourceRow } from './view'

/**
 * Replaces the hosts of a source. Hosts that stay keep their addresses and problems; the records of those that go become manual.
 * @param source with the new settings
 * @throws Problem 422 naming the host; 409 `already_driven`, `record_exists`
 */
export async function replaceHosts(
  tx: Tx,
  ctx: Ctx,
  source: SourceRow,
  input: readonly DynamicIpHostInput[],
): Promise<HostRow[]> {
  const before = await hostsOfSources(tx, [source.id])
  const parsed = await parseHosts(tx, ctx, source, input)
  const wanted = parsed.map((one, position) => {
    const same = before.find(host => host.zoneId === one.zoneId && host.name === one.name)
    return {
      id: same?.id ?? newId('dih'),
      position,
      ipv4: same?.ipv4 ?? null,
      ipv6: same?.ipv6 ?? null,
      problem: same?.problem ?? null,
      ...one,
    }
  })
  await refuseDrivenElsewhere(tx, source, wanted)
  await refuseExisting(tx, source, wanted)
  if (before.length > 0) await tx.delete(dynamicIpHosts).where(eq(dynamicIpHosts.sourceId, source.id))
  await refuseDuplicate('Another dynamic IP source just added one of the hosts.', () => insertRows(tx, dynamicIpHosts, wanted))
  await releaseOthers(tx, ctx.hub, source, [...before, ...wanted], wanted)
  return wanted
}

/** Lets everybody change the records that a source no longer sets. @param known hosts whose zones may have such records */
export async function releaseOthers(
  tx: Tx,
  hub: Hub,
  source: SourceRow,
  known: readonly HostRow[],
  kept: readonly HostRow[],
): Promise<void> {
  for (const zoneId of [...new Set(known.map(one => one.zoneId))].sort()) {
    const own = kept.filter(one => one.zoneId === zoneId)
    const keys = own.flatMap(host => typesOf(source, host).map(type => rrsetKey({ name: relativeName(host), type })))
    await releaseRrsets(tx, hub, zoneId, source.id, new Set(keys))
  }
}

type ParsedHost = Omit<HostRow, 'id' | 'position' | 'ipv4' | 'ipv6' | 'problem'>

async function parseHosts(tx: Tx, ctx: Ctx, source: SourceRow, input: readonly DynamicIpHostInput[]): Promise<ParsedHost[]> {
  const problems: FieldProblem[] = []
  const names = input.map((one, place) => nameOf(one.name, place, problems))
  const byName = await zonesOfNames(
    tx,
    ctx,
    names.filter(one => one !== null),
  )
  const byId = await zonesWithIds(
    tx,
    ctx,
    input.flatMap(one => one.zone_id ?? []),
  )
  const seen = new Map<string, number>()
  const hosts = input.flatMap((one, place): ParsedHost[] => {
    const name = names[place]!
    if (name === null) return []
    const zone = one.zone_id ? byId.get(one.zone_id) : byName.get(name)
    const found = problems.length
    if (!zone)
      problems.push(
        one.zone_id
          ? { pointer: `#/hosts/${place}/zone_id`, code: 'not_found', detail: 'must be the ID of a zone of the workspace.' }
          : {
              pointer: `#/hosts/${place}/name`,
              code: 'not_found',
              detail: `must be in a DNS zone of the workspace. No zone contains ${name}.`,
            },
      )
    else problems.push(...outsideZone(name, zone, place))
    const earlier = seen.get(name)
    if (earlier !== undefined)
      problems.push({ pointer: `#/hosts/${place}/name`, code: 'not_unique', detail: `duplicates #/hosts/${earlier}/name.` })
    seen.set(name, place)
    problems.push(...suffixProblems(source, one, place))
    if (problems.length > found) return []
    return [
      {
        sourceId: source.id,
        name,
        zoneId: zone!.id,
        zoneName: zone!.name,
        families: one.families ?? null,
        mode: one.mode ?? 'address',
        suffix6: one.suffix6 ?? null,
        ttl: one.ttl ?? null,
        adopt: one.adopt ?? false,
      },
    ]
  })
  if (problems.length > 0) throw invalid(problems)
  return hosts
}

/** The name in lowercase A-labels, without the final dot; null if it is invalid. */
function nameOf(text: string, place: number, problems: FieldProblem[]): string | null {
  try {
    const ascii = /^[\p{ASCII}]*$/u.test(text) ? text : domainToASCII(text)
    const name = lowerName(parseName(ascii, '.'))
    if (name !== '.') return name.slice(0, -1)
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error
  }
  problems.push({
    pointer: `#/hosts/${place}/name`,
    code: 'format',
    detail: 'must be a fully qualified name, such as home.example.com.',
  })
  return null
}

function outsideZone(name: string, zone: NamedZone, place: number): FieldProblem[] {
  try {
    recordNameOf(`${name}.`, zone.name)
    return []
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error
    return [{ pointer: `#/hosts/${place}/name`, code: 'dns_rule', detail: `${error.message}.` }]
  }
}

function suffixProblems(source: SourceRow, { mode, suffix6, families }: DynamicIpHostInput, place: number): FieldProblem[] {
  const problem = (code: string, detail: string): FieldProblem[] => [{ pointer: `#/hosts/${place}/suffix6`, code, detail }]
  if (mode !== 'prefix') return suffix6 ? problem('not_allowed', 'is only allowed with the mode `prefix`.') : []
  if (!(families ?? source.families).includes('ipv6'))
    return [
      { pointer: `#/hosts/${place}/mode`, code: 'not_allowed', detail: 'can only be `prefix` if the families include `ipv6`.' },
    ]
  if (!suffix6) return problem('required', 'is required with the mode `prefix`.')
  if (readSuffix(suffix6) === null)
    return problem(
      'format',
      'must be the lower bits of an IPv6 address, such as ::10, or a MAC address, such as 02:00:5e:10:00:01.',
    )
  return []
}

/** @throws Problem 409 `already_driven` */
async function refuseDrivenElsewhere(tx: Tx, source: SourceRow, hosts: readonly HostRow[]): Promise<void> {
  if (hosts.length === 0) return
  const rows = await tx
    .select({
      sourceId: dynamicIpHosts.sourceId,
      source: dynamicIps.name,
      zoneId: dynamicIpHosts.zoneId,
      name: dynamicIpHosts.name,
    })
    .from(dynamicIpHosts)
    .innerJoin(dynamicIps, eq(dynamicIps.id, dynamicIpHosts.sourceId))
    .where(
      and(
        inArray(dynamicIpHosts.zoneId, [...new Set(hosts.map(one => one.zoneId))]),
        inArray(
          dynamicIpHosts.name,
          hosts.map(one => one.name),
        ),
      ),
    )
  const other = rows.find(
    row => row.sourceId !== source.id && hosts.some(one => one.zoneId === row.zoneId && one.name === row.name),
  )
  if (!other) return
  const place = hosts.findIndex(one => one.name === other.name)
  const detail = `The name ${other.name} is a host of the dynamic IP source “${other.source}”. A name can have only one source.`
  throw new Problem('already_driven', detail, {
    errors: [{ pointer: `#/hosts/${place}/name`, code: 'already_driven', detail }],
    fields: { dynamic_ip_id: other.sourceId },
  })
}

/** @throws Problem 409 `record_exists`, 422 for a CNAME or ALIAS at the name */
async function refuseExisting(tx: Tx, source: SourceRow, hosts: readonly HostRow[]): Promise<void> {
  for (const [zoneId, own] of Map.groupBy(hosts, one => one.zoneId)) {
    const wanted = own.flatMap(host =>
      typesOf(source, host).map(type => ({ host, name: relativeName(host), type, adopts: host.adopt })),
    )
    const failures = await takeoverFailures(tx, { id: zoneId, name: own[0]!.zoneName }, source.id, wanted)
    const refused = wanted.find(one => failures.has(rrsetKey(one)))
    if (!refused) continue
    const { code, detail } = failures.get(rrsetKey(refused))!
    const errors = [{ pointer: `#/hosts/${hosts.indexOf(refused.host)}/name`, code, detail }]
    if (code === 'record_exists' || code === 'already_driven') throw new Problem(code, detail, { errors })
    throw invalid(errors)
  }
}
