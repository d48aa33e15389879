import type { Hub } from '../core/hub'
import { htmlText } from '../core/html-text'
import { sendMail } from '../core/net/mail'
import { Problem } from '../core/problem'

/** What a person is written by the installation itself: about their login, or an invitation. */
export interface OwnMail {
  to: string
  subject: string
  paragraphs: readonly string[]
  /** Stands between the first paragraph and the rest. */
  link: string
  /** Tells the mail from others, and is the same when it is sent once more. */
  id: string
}

/** Whether the installation has a mail server. */
export const hasMail = ({ config }: Pick<Hub, 'config'>): boolean => config.smtpUrl !== null && config.mailFrom !== null

/** @throws Problem 409 `mail_not_set_up` */
export function requireMail(hub: Hub): void {
  if (!hasMail(hub))
    throw new Problem(
      'mail_not_set_up',
      'This installation sends no mail: the operator sets it up with BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM.',
    )
}

/**
 * Gives a mail to the server of the installation, which is the operator's own: no network policy of a workspace is about it.
 * @throws MailFailed; Problem 409 `mail_not_set_up`
 */
export async function sendOwnMail(hub: Hub, { to, subject, paragraphs, link, id }: OwnMail): Promise<void> {
  requireMail(hub)
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
      // RFC 3834: holiday replies and the like are not for programs.
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      date: hub.clock.now(),
    },
  )
}

/** When a mail that was not taken is tried again, in ms after try number `attempts`; null gives up: what it tells is soon over. */
export const mailRetryMs = (attempts: number): number | null => [60_000, 5 * 60_000, 15 * 60_000][attempts - 1] ?? null
