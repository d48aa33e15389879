import type { TakenMail } from './mail-double'

/** The link in a mail, whose body may be quoted-printable (RFC 2045 section 6.7). */
export function mailedLink({ text }: TakenMail): string {
  const link = /https?:\/\/\S+#\w+/.exec(text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='))?.[0]
  if (!link) throw new Error(`The mail has no link: ${text}`)
  return link
}
