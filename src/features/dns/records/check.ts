import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { dryRun } from '../../../core/db/savepoint'
import type { Tx } from '../../../core/db/transaction'
import { invalid, Problem } from '../../../core/problem'
import type { DnsRecordCheckInput, DnsRecordCheckResult } from './shapes'
import { typeOf } from './values'
import { recordCreation, recordOf, recordUpdate } from './records'
import { parseField } from './parse-field'
import { lockZone, type ZoneRow } from '../zones/rows'
import { zoneTarget } from '../zones/zones'

/**
 * Validates a new or updated record: saves it and rolls back.
 * @throws Problem 404, 422, 403 `plan_limit_reached`
 */
export async function checkRecord(ctx: Ctx, zoneId: string, input: DnsRecordCheckInput): Promise<DnsRecordCheckResult> {
  const { record_id: id, type, ...rest } = input
  return await change(ctx, 'dns.record.check', async (tx): Promise<ChangeResult<DnsRecordCheckResult>> => {
    const zone = await lockZone(tx, ctx, zoneId)
    if (id !== undefined) await refuseOther(tx, ctx, zone, { id, type })
    const { result } = await dryRun(tx, () =>
      id === undefined ? recordCreation(tx, ctx, zoneId, { type, ...rest }) : recordUpdate(tx, ctx, id, rest),
    )
    const { name, fqdn, ttl, content, fields } = result
    return { result: { name, fqdn, type: result.type, ttl, content, fields }, target: zoneTarget(zone), unchanged: true }
  })
}

/** @throws Problem 422 for a record of another zone or type, since neither can change */
async function refuseOther(tx: Tx, ctx: Ctx, zone: ZoneRow, { id, type }: { id: string; type: string }): Promise<void> {
  const record = await recordOf(tx, ctx, id).catch((error: unknown) => {
    if (error instanceof Problem) return null
    throw error
  })
  if (record?.zoneId !== zone.id)
    throw invalid([{ pointer: '#/record_id', code: 'unknown', detail: 'must be a record of this zone.' }])
  if (parseField('#/type', () => typeOf(type)) !== record.type)
    throw invalid([
      { pointer: '#/type', code: 'not_allowed', detail: `must be ${record.type}. The type of a record can’t be changed.` },
    ])
}
