import { eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { change, isUnchanged } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { inputColumns, memberView, patchColumns } from '../../core/members'
import { gapsJobFor } from '../certificates/gaps-job'
import { certificateSettingMembers, type CertificateSettingsPatch, type CertificateSettingsView } from './shapes'
import { certificateSettings } from './tables'

/** The settings of a workspace. */
export async function settingsOf(read: Reader, workspaceId: string): Promise<CertificateSettingsView> {
  const [row] = await read.select().from(certificateSettings).where(eq(certificateSettings.workspaceId, workspaceId))
  return memberView(certificateSettingMembers, row ?? inputColumns(certificateSettingMembers, {}))
}

export const getCertificateSettings = (ctx: Ctx): Promise<CertificateSettingsView> => settingsOf(ctx.hub.read, ctx.workspaceId)

export const updateCertificateSettings = (ctx: Ctx, patch: CertificateSettingsPatch): Promise<CertificateSettingsView> =>
  change(ctx, 'certificates.settings.update', async tx => {
    const [workspace] = await tx.select({ name: workspaces.name }).from(workspaces).where(eq(workspaces.id, ctx.workspaceId))
    const target = { type: 'workspace', id: ctx.workspaceId, name: workspace?.name ?? '' }
    const before = await settingsOf(tx, ctx.workspaceId)
    const columns = inputColumns(certificateSettingMembers, before)
    const changed = patchColumns(certificateSettingMembers, patch)
    if (isUnchanged(columns, changed)) return { result: before, target, unchanged: true }
    await tx
      .insert(certificateSettings)
      .values({ workspaceId: ctx.workspaceId, ...columns, ...changed })
      .onConflictDoUpdate({ target: certificateSettings.workspaceId, set: changed })
    const after = await settingsOf(tx, ctx.workspaceId)
    // At once, although one may be waiting for scans to settle.
    const gapsJob = { ...gapsJobFor(ctx.workspaceId), replaces: true }
    return { result: after, target, before, after, jobs: [gapsJob] }
  })
