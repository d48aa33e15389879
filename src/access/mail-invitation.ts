import { and, eq } from 'drizzle-orm'
import { sha256Hex } from '../core/crypto'
import type { Hub } from '../core/hub'
import type { JobKind } from '../core/jobs/job'
import type { JobDraft } from '../core/jobs/queue'
import { MailFailed } from '../core/net/mail'
import { invitationCode, invitationLink } from './invitation-codes'
import { hasMail, mailRetryMs, requireMail, sendOwnMail } from './mails'
import { invitations, workspaces } from './tables'

const kind = 'access.mail-invitation'
type Payload = { invitation_id: string; version: number; from: string | null }

/**
 * Whether an invitation is to be mailed: where nothing was said, if the installation can.
 * @throws Problem 409 `mail_not_set_up`
 */
export function isToBeMailed(hub: Hub, send: boolean | undefined): boolean {
  if (send === true) requireMail(hub)
  return send ?? hasMail(hub)
}

/** The job that mails an invitation as it is now. @param from name of the person who invites; null for a token */
export const mailInvitation = (row: { id: string; version: number }, from: string | null): JobDraft => {
  const payload: Payload = { invitation_id: row.id, version: row.version, from }
  return { kind, payload }
}

/** Mails an invitation, unless it was renewed, withdrawn or accepted meanwhile, and writes down what came of it. */
export const mailInvitationJob: JobKind<Payload> = {
  kind,
  concurrency: 2,
  leaseMs: 2 * 60_000,
  retryAfter: mailRetryMs,
  async run(hub, { id, attempts, payload }) {
    const code = invitationCode(hub, payload.invitation_id, payload.version)
    const asItWas = and(eq(invitations.id, payload.invitation_id), eq(invitations.codeHash, sha256Hex(code)))
    const [found] = await hub.read
      .select({ row: invitations, workspace: workspaces })
      .from(invitations)
      .innerJoin(workspaces, eq(workspaces.id, invitations.workspaceId))
      .where(asItWas)
    const now = hub.clock.now()
    if (!found || found.row.acceptedAt !== null || found.row.expiresAt <= now) return undefined
    if (found.workspace.suspendedAt !== null || !hasMail(hub)) return undefined
    const { row, workspace } = found
    let mailError: string | null = null
    try {
      await sendOwnMail(hub, {
        to: row.email,
        subject: `Invitation to ${workspace.name}`,
        paragraphs: [
          `${payload.from ?? 'Somebody'} invites you to the workspace “${workspace.name}” of Bailiwick at ${hub.baseUrl}. Accept it here:`,
          'The link works once. If you do not know who this is from, there is nothing to do.',
        ],
        link: invitationLink(hub, code),
        id,
      })
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error
      if (error.failure !== 'refused' && mailRetryMs(attempts) !== null) throw error
      mailError = error.message
    }
    return async tx => {
      await tx
        .update(invitations)
        .set({ mailedAt: mailError === null ? hub.clock.now() : null, mailError })
        .where(asItWas)
      return { result: undefined }
    }
  },
}
