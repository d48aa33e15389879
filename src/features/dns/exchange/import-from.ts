import { refuseTooManyRequests } from '../../../access/limiter'
import { and, eq } from 'drizzle-orm'
import { destinationProblem, workspacePolicy } from '../../../access/network-policy'
import type { Ctx } from '../../../core/ctx'
import { QueryFailed } from '../../../dns/client/failure'
import { catchFormatError, DnsFormatError } from '../../../dns/format-error'
import { readTsigKey, type TsigKey } from '../../../dns/tsig'
import { EgressRefused, type VettedHost } from '../../../core/net/egress'
import { egressOf } from '../../../core/net/hub-egress'
import { requireMatch } from '../../../core/if-match'
import { pointerPart } from '../../../core/pointer'
import { invalid, type FieldProblem } from '../../../core/problem'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { ImportedZone, maxImportRecords } from './imported-zone'
import { openProvider } from '../accounts/open'
import { providerOf, refuseBuiltin } from '../accounts/accounts'
import { callAdapter } from '../../../adapters/call'
import { toProviderError } from '../providers/query-failures'
import { ProviderError, type ProviderRrset } from '../providers/provider'
import { readTransfer } from '../providers/zone-transfer'
import type { ZoneImportResult, ZoneSource } from './shapes'
import { problemsOf, ruleProblem } from '../records/parse-field'
import { optionsOf } from '../records/rrset-metadata'
import { refuse } from '../changes/change-zone'
import { dnsZoneTargets } from '../targets/tables'
import { applyImport } from './apply-import'
import { absoluteOf, rrsetKey } from '../zones/names'
import { type ZoneRow, zoneOf } from '../zones/rows'

const transferLimits = { records: maxImportRecords, octets: 32 * 1024 * 1024, timeoutMs: 30_000 }
/** Imports per minute and zone. */
const maxPerMinute = 10

/**
 * Reads a zone from another server or a provider, and imports it.
 * @throws Problem 404, 412, 422, 424 `provider_failed`, 409 `plan_blocked`, 403 `plan_limit_reached`, 429
 */
export async function importFrom(
  ctx: Ctx,
  id: string,
  { server, key, provider_id, ...options }: ZoneSource,
): Promise<ZoneImportResult> {
  const zone = await zoneOf(ctx.hub.read, ctx, id)
  requireMatch(ctx, zone)
  if ((server === undefined) === (provider_id === undefined))
    throw invalid([{ pointer: '#', code: 'required', detail: 'must have either `server` or `provider_id`.' }])
  if (key && !server) throw invalid([{ pointer: '#/key', code: 'unexpected', detail: 'is only allowed with `server`.' }])
  const signedWith = key ? keyOf(key) : null
  refuseTooManyRequests(ctx, 'zone-imports', id, maxPerMinute)
  const parsed = server
    ? await readFromServer(ctx, zone.name, server, signedWith)
    : await readFromProvider(ctx, zone, provider_id!)
  const from = server ? `${server.host} ${server.port ?? 53}` : provider_id!
  return await applyImport(ctx, id, parsed, options, { action: 'dns.zone.import_from', audit: { from }, notePointer: '#/note' })
}

/** @throws Problem 422 */
const keyOf = ({ name, algorithm = 'hmac-sha256', secret }: NonNullable<ZoneSource['key']>): TsigKey =>
  catchFormatError(
    () => readTsigKey({ name, algorithm, secret }),
    ({ field, rule, reference }) => {
      throw invalid([ruleProblem(new DnsFormatError(rule, null, reference), `#/key/${field}`)])
    },
  )

async function readFromServer(
  ctx: Ctx,
  zoneName: string,
  { host, port = 53 }: NonNullable<ZoneSource['server']>,
  key: TsigKey | null,
): Promise<ImportedZone> {
  const at = await vetted(ctx, host, port)
  const { clock } = ctx.hub
  const transfer = async () => {
    try {
      return await readTransfer({ at, key, now: () => clock.now() }, zoneName, transferLimits)
    } catch (error) {
      throw error instanceof QueryFailed ? toProviderError(error) : error
    }
  }
  const { rrsets, soa, leftOut } = await callAdapter(transfer)
  const read = new ImportedZone(zoneName)
  read.skipped = leftOut
  const problems = problemsOf('#/soa', () => read.add(soa, '#/soa'))
  refuse([...problems, ...(await addRrsets(read, rrsets))])
  return read
}

/** Keeps the SOA of the zone, since providers don’t report theirs. */
async function readFromProvider(ctx: Ctx, zone: ZoneRow, id: string): Promise<ImportedZone> {
  const { name: zoneName } = zone
  refuseBuiltin(id)
  const row = await providerOf(ctx, id)
  const { rrsets, caps } = await callAdapter(async () => {
    const provider = await openProvider(ctx.hub, row, true)
    const found = await provider.findZone(zoneName)
    if (!found) throw new ProviderError('zone_not_found', `The provider has no zone ${zoneName}.`)
    return { ...(await provider.read(found)), caps: provider.caps }
  })
  const count = rrsets.reduce((sum, one) => sum + one.values.length, 0)
  if (count > maxImportRecords)
    throw invalid([
      {
        pointer: '#/provider_id',
        code: 'too_many',
        detail: `has more than ${maxImportRecords} records in this zone, which is the limit per import.`,
      },
    ])
  const read = new ImportedZone(zoneName)
  read.hidesNameServers = caps.apexNs === 'hidden'
  // An automatic TTL of the provider is only meaningful at that provider.
  const autoTtl = (await isHostedOnlyAt(ctx, zone, id)) ? undefined : caps.ttl.auto
  refuse(
    await addRrsets(
      read,
      autoTtl === undefined ? rrsets : rrsets.map(one => (one.ttl === autoTtl ? { ...one, ttl: zone.defaultTtl } : one)),
    ),
  )
  return read
}

/** Whether a provider hosts the zone and the hub doesn’t serve it. */
async function isHostedOnlyAt(ctx: Ctx, zone: ZoneRow, providerId: string): Promise<boolean> {
  if (zone.isServed) return false
  const [target] = await ctx.hub.read
    .select({ id: dnsZoneTargets.id })
    .from(dnsZoneTargets)
    .where(and(eq(dnsZoneTargets.zoneId, zone.id), eq(dnsZoneTargets.providerId, providerId)))
  return target !== undefined
}

/** Adds rrsets to the import. @returns the rules they violate */
async function addRrsets(read: ImportedZone, rrsets: readonly ProviderRrset[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  for (const { name, type, ttl, values, options } of rrsets) {
    const pointer = pointerTo(name, type)
    for (const rdata of values) {
      problems.push(...problemsOf(pointer, () => read.add({ name: absoluteOf(name, read.zoneName), type, ttl, rdata }, pointer)))
      if (isTurnOver()) await yieldToEventLoop()
    }
    const rrset = read.rrsets.get(rrsetKey({ name, type }))
    if (rrset && options) rrset.options = optionsOf(options)
  }
  return problems
}

/** JSON pointer as a URI fragment (RFC 6901 section 6). */
const pointerTo = (name: string, type: string): string => encodeURI(`#/rrsets/${pointerPart(name)}/${type}`)

/** @throws Problem 422 with the error class, never with an address */
async function vetted(ctx: Ctx, host: string, port: number): Promise<VettedHost> {
  const policy = await workspacePolicy(ctx.hub.read, ctx.workspaceId, false)
  try {
    return await egressOf(ctx.hub).vetHost(host, port, policy)
  } catch (error) {
    throw error instanceof EgressRefused ? invalid([destinationProblem('#/server/host', error)]) : error
  }
}
