import { and, eq } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { formatUtcMinute } from '../../../core/clock'
import { sha256Hex } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import type { JobKind } from '../../../core/jobs/job'
import { MailError } from '../../../core/net/mail'
import { hasMail, mailRetryMs, requireMail, sendSystemMail } from '../system-mail'
import { invitationCode, invitationLink } from './codes'
import { invitations } from './tables'

const kind = 'access.mail-invitation'
type Payload = { invitation_id: string; version: number; from: string | null }

/**
 * Whether to email an invitation. Defaults to true if the installation has a mail server.
 * @throws Problem 409 `mail_not_set_up`
 */
export function shouldMail(hub: Hub, send: boolean | undefined): boolean {
  if (send === true) requireMail(hub)
  return send ?? hasMail(hub)
}

/** The job that emails an invitation in its current version. @param from name of the inviting person; null for a token */
export const mailInvitation = (row: { id: string; version: number }, from: string | null): JobDraft => {
  const payload: Payload = { invitation_id: row.id, version: row.version, from }
  return { kind, payload }
}

/** Emails an invitation, unless it was renewed, revoked or accepted in the meantime, and stores the outcome. */
export const mailInvitationJob: JobKind<Payload> = {
  kind,
  concurrency: 2,
  leaseMs: 2 * 60_000,
  retryAfter: mailRetryMs,
  async run(hub, { id, attempts, payload }) {
    const code = invitationCode(hub, payload.invitation_id, payload.version)
    const isSameVersion = and(eq(invitations.id, payload.invitation_id), eq(invitations.codeHash, sha256Hex(code)))
    const [found] = await hub.read
      .select({ row: invitations, workspace: workspaces })
      .from(invitations)
      .innerJoin(workspaces, eq(workspaces.id, invitations.workspaceId))
      .where(isSameVersion)
    const now = hub.clock.now()
    if (!found || found.row.acceptedAt !== null || found.row.expiresAt <= now) return undefined
    if (found.workspace.suspendedAt !== null || !hasMail(hub)) return undefined
    const { row, workspace } = found
    let mailError: string | null = null
    try {
      await sendSystemMail(hub, {
        to: row.email,
        subject: `Invitation to join ${workspace.name} on Bailiwick`,
        paragraphs: [
          payload.from === null
            ? `You have been invited to the workspace “${workspace.name}” on Bailiwick at ${hub.baseUrl}. Accept the ` +
              'invitation here:'
            : `${payload.from} invited you to the workspace “${workspace.name}” on Bailiwick at ${hub.baseUrl}. Accept ` +
              'the invitation here:',
          `The invitation is for the role ${row.role}. The link works only once, and expires on ${formatUtcMinute(row.expiresAt)}.`,
          'If you were not expecting this invitation, you can ignore this email.',
        ],
        link: invitationLink(hub, code),
        id,
      })
    } catch (error) {
      if (!(error instanceof MailError)) throw error
      if (error.failure !== 'rejected' && mailRetryMs(attempts) !== null) throw error
      mailError = error.message
    }
    return async tx => {
      await tx
        .update(invitations)
        .set({ mailedAt: mailError === null ? hub.clock.now() : null, mailError })
        .where(isSameVersion)
      return { result: undefined }
    }
  },
}
