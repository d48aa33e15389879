import { eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { urlProblem } from '../../adapters/json-http'
import { change, isUnchanged } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { inputColumns, memberView, patchColumns } from '../../core/members'
import { invalid } from '../../core/problem'
import { gapsJobFor } from '../certificates/gaps-job'
import { activeZones } from '../dns/records/certificate-names'
import { ctTokenPlace } from './ct/token'
import { certificateSettingMembers, type CertificateSettingsPatch, type CertificateSettingsView } from './shapes'
import { certificateSettings, ctSearches } from './tables'

type SettingsRow = typeof certificateSettings.$inferSelect

const defaults = (workspaceId: string): SettingsRow => ({
  workspaceId,
  ...inputColumns(certificateSettingMembers, {}),
  ...{ ctKind: 'off', ctUrl: null, ctTokenSealed: null },
})

async function rowOf(read: Reader, workspaceId: string): Promise<SettingsRow> {
  const [row] = await read.select().from(certificateSettings).where(eq(certificateSettings.workspaceId, workspaceId))
  return row ?? defaults(workspaceId)
}

/** Which names of a workspace should have a certificate. */
export const coverageSettingsOf = async (read: Reader, workspaceId: string): Promise<Omit<CertificateSettingsView, 'ct'>> =>
  memberView(certificateSettingMembers, await rowOf(read, workspaceId))

async function viewOf(read: Reader, row: SettingsRow): Promise<CertificateSettingsView> {
  const { workspaceId, ctKind, ctUrl, ctTokenSealed } = row
  const { checkedAt, error } = ctSearches
  const searches =
    ctKind === 'off'
      ? []
      : await read.select({ checkedAt, error }).from(ctSearches).where(eq(ctSearches.workspaceId, workspaceId))
  const zones = ctKind === 'off' ? 0 : (await activeZones(read, workspaceId)).filter(one => !one.name.endsWith('.arpa')).length
  const times = searches.flatMap(one => one.checkedAt ?? [])
  return {
    ...memberView(certificateSettingMembers, row),
    ct: {
      ...{ kind: ctKind, url: ctUrl, token_set: ctTokenSealed !== null },
      last_checked_at: zones > 0 && times.length >= zones ? instant(Math.min(...times)) : null,
      last_error: searches.find(one => one.error !== null)?.error ?? null,
    },
  }
}

export const getCertificateSettings = async (ctx: Ctx): Promise<CertificateSettingsView> =>
  await viewOf(ctx.hub.read, await rowOf(ctx.hub.read, ctx.workspaceId))

/** @throws Problem 422 */
export const updateCertificateSettings = (
  ctx: Ctx,
  { ct, ...patch }: CertificateSettingsPatch,
): Promise<CertificateSettingsView> =>
  change(ctx, 'certificates.settings.update', async tx => {
    const { workspaceId } = ctx
    const [workspace] = await tx.select({ name: workspaces.name }).from(workspaces).where(eq(workspaces.id, workspaceId))
    const target = { type: 'workspace', id: workspaceId, name: workspace?.name ?? '' }
    const row = await rowOf(tx, workspaceId)
    const before = await viewOf(tx, row)
    const changed = {
      ...patchColumns(certificateSettingMembers, patch),
      ...(ct && (await ctColumns(tx, ctx, row, ct))),
    }
    if (isUnchanged(row, changed)) return { result: before, target, unchanged: true }
    const values = { ...row, ...changed }
    await tx
      .insert(certificateSettings)
      .values(values)
      .onConflictDoUpdate({ target: certificateSettings.workspaceId, set: changed })
    // Another API has other cursors, and another key may succeed.
    if (ct) await tx.delete(ctSearches).where(eq(ctSearches.workspaceId, workspaceId))
    const after = await viewOf(tx, values)
    // At once, although one may be waiting for scans to settle.
    const gapsJob = { ...gapsJobFor(workspaceId), replaces: true }
    return { result: after, target, before, after, jobs: [gapsJob] }
  })

/** @throws Problem 422 */
async function ctColumns(
  tx: Tx,
  ctx: Ctx,
  row: SettingsRow,
  { kind = row.ctKind, url = row.ctUrl, token }: NonNullable<CertificateSettingsPatch['ct']>,
): Promise<Pick<SettingsRow, 'ctKind' | 'ctUrl'> & Partial<Pick<SettingsRow, 'ctTokenSealed'>>> {
  const problem = url === null ? null : urlProblem('url', url)
  if (problem) throw invalid([{ ...problem, pointer: '#/ct/url' }])
  if (url !== row.ctUrl && row.ctTokenSealed !== null && token === undefined) {
    const detail =
      'must be entered again, or removed with null, when you change `url`: it is only sent to the server it was entered for.'
    throw invalid([{ pointer: '#/ct/token', code: 'required', detail }])
  }
  if (kind === 'crtsh' && typeof token === 'string')
    throw invalid([{ pointer: '#/ct/token', code: 'not_allowed', detail: 'is not allowed: crt.sh has no API keys.' }])
  const ctTokenSealed = token && (await ctx.hub.keys.seal(tx, ctTokenPlace(ctx.workspaceId), token))
  return { ctKind: kind, ctUrl: url, ...(ctTokenSealed !== undefined && { ctTokenSealed }) }
}
