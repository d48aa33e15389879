import type { ReceivedMail } from './mail-double'

/** The link in an email, whose body may be quoted-printable (RFC 2045 section 6.7). */
export function mailedLink({ text }: ReceivedMail): string {
  const link = /https?:\/\/\S+#\w+/.exec(text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='))?.[0]
  if (!link) throw new Error(`The mail has no link: ${text}`)
  return link
}
