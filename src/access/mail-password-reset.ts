import { record } from '../core/change'
import type { AuditContext } from '../core/db/tables'
import type { JobKind } from '../core/jobs/job'
import { MailFailed } from '../core/net/mail'
import { hasMail, mailRetryMs, sendOwnMail } from './mails'
import { mailResetKind, newReset } from './password-resets'
import { auditOfUser, findUser } from './users'

/**
 * Mails a link to a new password to whoever has the login, with an entry in the audit logs that they are in. A try that failed made a
 * link that nobody knows; the next makes another.
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
    const told = { actor: { type: 'anonymous' as const, id: '', name: null, hint: null }, context }
    let refusal: string | null = null
    try {
      await sendOwnMail(hub, {
        to: user.email,
        subject: 'A new password for Bailiwick',
        paragraphs: [
          `Somebody asked for a new password for ${user.email} at ${hub.baseUrl}. Set it here, once, within an hour:`,
          'If that was not you, there is nothing to do: the password stays as it is.',
        ],
        link,
        id,
      })
    } catch (error) {
      if (!(error instanceof MailFailed) || error.failure !== 'refused') throw error
      refusal = error.message
    }
    return async tx => {
      const audits = await auditOfUser(tx, user, 'account.password_reset.create', told)
      const failed = { outcome: 'failure' as const, reason: refusal }
      return { result: undefined, audits: refusal === null ? audits : audits.map(one => ({ ...one, ...failed })) }
    }
  },
}
