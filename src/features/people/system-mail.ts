import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import { instant } from '../../core/clock'
import { instanceFacts } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { htmlText } from '../../core/html-text'
import { MailError, sendMail } from '../../core/net/mail'
import { oneLine } from '../../core/one-line'
import { Problem } from '../../core/problem'

/** An email sent by the installation itself, about an account or an invitation. */
interface SystemMail {
  to: string
  subject: string
  paragraphs: readonly string[]
  /** Placed after the first paragraph. */
  link: string
  /** Identifies the email; stays the same if it is sent again. */
  id: string
}

/** Whether the installation has a mail server. */
export const hasMail = ({ config }: Pick<Hub, 'config'>): boolean => config.smtpUrl !== null && config.mailFrom !== null

/** @throws Problem 409 `mail_not_set_up` */
export function requireMail(hub: Hub): void {
  if (!hasMail(hub))
    throw new Problem(
      'mail_not_set_up',
      'This installation can’t send email. The operator can set it up with BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM.',
    )
}

/**
 * Sends an email through the installation's mail server. That server belongs to the operator, so no workspace network policy
 * applies. Records the result for the operator.
 * @throws MailError; Problem 409 `mail_not_set_up`
 */
export async function sendSystemMail(hub: Hub, mail: SystemMail): Promise<void> {
  requireMail(hub)
  try {
    await send(hub, mail)
  } catch (error) {
    if (error instanceof MailError) await noteResult(hub, error.message)
    throw error
  }
  await noteResult(hub, null)
}

/** The result of the last email of the installation. */
interface LastMail {
  /** RFC 3339. */
  at: string
  /** Null if it was sent. */
  error: string | null
}

const lastMailFact = 'last_mail'

/** The result of the last email of the installation; null if there was none. */
export async function lastMail(read: Reader): Promise<LastMail | null> {
  const [row] = await read.select({ value: instanceFacts.value }).from(instanceFacts).where(eq(instanceFacts.name, lastMailFact))
  return row ? (JSON.parse(row.value) as LastMail) : null
}

async function noteResult(hub: Hub, error: string | null): Promise<void> {
  const result: LastMail = { at: instant(hub.clock.now()), error: error && oneLine(error) }
  const value = JSON.stringify(result)
  try {
    await record(hub, async tx => {
      await tx
        .insert(instanceFacts)
        .values({ name: lastMailFact, value })
        .onConflictDoUpdate({ target: instanceFacts.name, set: { value } })
      return { result: undefined }
    })
  } catch (error) {
    // The job would send the email again.
    hub.log.warn({ err: error }, 'the result of an email could not be recorded')
  }
}

async function send(hub: Hub, { to, subject, paragraphs, link, id }: SystemMail): Promise<void> {
  const { smtpUrl: server, mailFrom: from } = hub.config
  const [first, ...rest] = paragraphs
  await sendMail(
    server!,
    { address: server!.host, helloName: new URL(hub.baseUrl).hostname.replace(/^\[(.*)\]$/, '$1') },
    {
      from: from!,
      to: [to],
      subject,
      text: [first, link, ...rest].join('\n\n'),
      html: [
        '<!doctype html><html><body style="font-family:sans-serif;font-size:14px;line-height:1.5">',
        ...[htmlText(first!), `<a href="${htmlText(link)}">${htmlText(link)}</a>`, ...rest.map(htmlText)].map(
          text => `<p>${text}</p>`,
        ),
        '</body></html>',
      ].join('\n'),
      messageId: `<${id}@${/@([^>\s]+)>?$/.exec(from!)![1]!}>`,
      references: [],
      // RFC 3834: prevents automatic replies.
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      date: hub.clock.now(),
    },
  )
}

/** Delay before the next attempt, in ms; null after the last one, because the link expires soon. */
export const mailRetryMs = (attempts: number): number | null => [60_000, 5 * 60_000, 15 * 60_000][attempts - 1] ?? null
