import { record } from '../../../core/change'
import type { AuditContext } from '../../../core/db/tables'
import type { JobKind } from '../../../core/jobs/job'
import { MailError } from '../../../core/net/mail'
import { hasMail, mailRetryMs, sendSystemMail } from '../system-mail'
import { userAudits, findUser } from '../users'
import { mailResetKind, newReset } from './password-resets'

/**
 * Emails a password reset link to the user with this email address, and records it in the audit logs of their workspaces. Every
 * attempt creates a new link; those of failed attempts are known to no one.
 */
export const mailPasswordResetJob: JobKind<{ email: string; context: AuditContext }> = {
  kind: mailResetKind,
  concurrency: 2,
  leaseMs: 2 * 60_000,
  retryAfter: mailRetryMs,
  async run(hub, { id, payload: { email, context } }) {
    const user = await findUser(hub.read, email)
    if (!user || user.disabledAt !== null || !hasMail(hub)) return undefined
    const link = await record(hub, async tx => ({ result: await newReset(tx, hub, user.id) }))
    const source = { actor: { type: 'anonymous' as const, id: '', name: null, hint: null }, context }
    let refusal: string | null = null
    try {
      await sendSystemMail(hub, {
        to: user.email,
        subject: 'Reset your Bailiwick password',
        paragraphs: [
          `Someone requested a password reset for ${user.email} at ${hub.baseUrl}. Use this link to set a new password. ` +
            'It works only once and expires in one hour:',
          'If you did not request this, you can ignore this email. Your password stays the same.',
        ],
        link,
        id,
      })
    } catch (error) {
      if (!(error instanceof MailError) || error.failure !== 'rejected') throw error
      refusal = error.message
    }
    const failed = refusal === null ? {} : { outcome: 'failure' as const, reason: refusal }
    return async tx => ({
      result: undefined,
      audits: await userAudits(tx, user, 'account.password_reset.create', source, failed),
    })
  },
}
