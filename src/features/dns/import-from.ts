import { and, eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import type { Ctx } from '../../core/ctx'
import { AskFailed } from '../../core/dns-client/failure'
import { DnsFormatError } from '../../core/dns/format-error'
import { readTsigKey, type TsigKey } from '../../core/dns/tsig'
import { EgressRefused, networkPolicy, type VettedHost } from '../../core/net/egress'
import { egressOf } from '../../core/net/hub-egress'
import { requireMatch } from '../../core/if-match'
import { pointerPart } from '../../core/pointer'
import { invalid, type FieldProblem } from '../../core/problem'
import { othersTurn } from '../../core/turns'
import { ImportedZone, mostRecordsRead } from './imported-zone'
import { openProvider } from './accounts/open'
import { providerOf, refuseBuiltin } from './accounts/accounts'
import { refuseAskedTooOften } from '../../access/asked-too-often'
import { asked } from './accounts/problem'
import { providerErrorOf } from './providers/ask-failures'
import { ProviderError, type ProviderRrset } from './providers/provider'
import { readTransfer } from './providers/zone-transfer'
import type { ZoneImported } from './record-shapes'
import { ruleProblem } from './rule-problems'
import { optionsOf } from './rrset-options'
import { refuse } from './zone-changes'
import { dnsZoneTargets } from './sync/tables'
import { takeIn } from './zone-intake'
import { absoluteOf } from './zone-names'
import { rrsetKey, type ZoneRow } from './zone-rows'
import type { ZoneSource } from './zone-sources'
import { zoneOf } from './zones'

const transferLimits = { records: mostRecordsRead, octets: 32 * 1024 * 1024, timeoutMs: 30_000 }
/** How often a minute a zone may be read from elsewhere. */
const quota = 10

/**
 * Reads a zone from another server or a provider, and takes it in.
 * @throws Problem 404, 412, 422, 424 `provider_failed`, 409 `plan_blocked`, 403 `plan_limit_reached`, 429
 */
export async function importFrom(ctx: Ctx, id: string, { server, key, provider_id, ...how }: ZoneSource): Promise<ZoneImported> {
  const zone = await zoneOf(ctx.hub.read, ctx, id)
  requireMatch(ctx, zone)
  if ((server === undefined) === (provider_id === undefined))
    throw invalid([{ pointer: '#', code: 'required', detail: 'must have either `server` or `provider_id`.' }])
  if (key && !server) throw invalid([{ pointer: '#/key', code: 'unexpected', detail: 'is of no use without `server`.' }])
  const signedWith = key ? keyOf(key) : null
  refuseAskedTooOften(ctx, 'zone-imports', id, quota)
  const read = server ? await readFromServer(ctx, zone.name, server, signedWith) : await readFromProvider(ctx, zone, provider_id!)
  const from = server ? `${server.host} ${server.port ?? 53}` : provider_id!
  return await takeIn(ctx, id, read, how, { action: 'dns.zone.import_from', told: { from }, notePointer: '#/note' })
}

/** @throws Problem 422 */
function keyOf({ name, algorithm = 'hmac-sha256', secret }: NonNullable<ZoneSource['key']>): TsigKey {
  try {
    return readTsigKey({ name, algorithm, secret })
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error
    const { field, rule, reference } = error
    throw invalid([ruleProblem(new DnsFormatError(rule, null, reference), `#/key/${field}`)])
  }
}

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
      throw error instanceof AskFailed ? providerErrorOf(error) : error
    }
  }
  const { rrsets, soa, leftOut } = await asked(transfer)
  const read = new ImportedZone(zoneName)
  read.skipped = leftOut
  const problems = problemsOf('#/soa', () => read.take(soa, '#/soa'))
  refuse([...problems, ...(await taken(read, rrsets))])
  return read
}

/** Its SOA stays that of the zone here: providers do not tell theirs. */
async function readFromProvider(ctx: Ctx, zone: ZoneRow, id: string): Promise<ImportedZone> {
  const { name: zoneName } = zone
  refuseBuiltin(id)
  const row = await providerOf(ctx.hub.read, ctx, id)
  const { rrsets, caps } = await asked(async () => {
    const provider = await openProvider(ctx.hub, row)
    const there = await provider.findZone(zoneName)
    if (!there) throw new ProviderError('zone_not_found', `The provider has no zone ${zoneName}.`)
    return { ...(await provider.read(there)), caps: provider.caps }
  })
  const count = rrsets.reduce((sum, one) => sum + one.values.length, 0)
  if (count > mostRecordsRead)
    throw invalid([
      { pointer: '#/provider_id', code: 'too_many', detail: `has more than ${mostRecordsRead} records in this zone.` },
    ])
  const read = new ImportedZone(zoneName)
  read.hidesNameServers = caps.apexNs === 'hidden'
  // What it chooses itself is no TTL anywhere else.
  const chosen = (await isKeptAtAlone(ctx, zone, id)) ? undefined : caps.ttl.auto
  refuse(
    await taken(
      read,
      chosen === undefined ? rrsets : rrsets.map(one => (one.ttl === chosen ? { ...one, ttl: zone.defaultTtl } : one)),
    ),
  )
  return read
}

/** Whether a zone is kept at a provider, and not answered for here. */
async function isKeptAtAlone(ctx: Ctx, zone: ZoneRow, providerId: string): Promise<boolean> {
  if (zone.isServed) return false
  const [target] = await ctx.hub.read
    .select({ id: dnsZoneTargets.id })
    .from(dnsZoneTargets)
    .where(and(eq(dnsZoneTargets.zoneId, zone.id), eq(dnsZoneTargets.providerId, providerId)))
  return target !== undefined
}

// So often others have their turn while a long zone is taken in.
const recordsAtOnce = 2000

/** @returns what broke a rule */
async function taken(read: ImportedZone, rrsets: readonly ProviderRrset[]): Promise<FieldProblem[]> {
  const problems: FieldProblem[] = []
  let count = 0
  for (const { name, type, ttl, values, options } of rrsets) {
    const pointer = pointerTo(name, type)
    for (const rdata of values) {
      problems.push(...problemsOf(pointer, () => read.take({ name: absoluteOf(name, read.zoneName), type, ttl, rdata }, pointer)))
      if (++count % recordsAtOnce === 0) await othersTurn()
    }
    const rrset = read.rrsets.get(rrsetKey({ name, type }))
    if (rrset && options) rrset.options = optionsOf(options)
  }
  return problems
}

function problemsOf(pointer: string, take: () => void): FieldProblem[] {
  try {
    take()
    return []
  } catch (error) {
    if (error instanceof DnsFormatError) return [ruleProblem(error, pointer)]
    throw error
  }
}

/** As JSON Pointer in a URI fragment has it (RFC 6901 6). */
const pointerTo = (name: string, type: string): string => encodeURI(`#/rrsets/${pointerPart(name)}/${type}`)

/** @throws Problem 422 naming the class of what is wrong and never an address */
async function vetted(ctx: Ctx, host: string, port: number): Promise<VettedHost> {
  const [row] = await ctx.hub.read
    .select({ stored: workspaces.networkPolicy })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.workspaceId))
  try {
    return await egressOf(ctx.hub).vetHost(host, port, networkPolicy(row!.stored, { carriesSecret: false }))
  } catch (error) {
    if (!(error instanceof EgressRefused)) throw error
    const detail = `is refused (${error.errorClass}). ${error.message}`
    throw invalid([{ pointer: '#/server/host', code: error.errorClass, detail }])
  }
}
