/** Where certificates in CT logs are searched for. */
export const ctKinds = ['off', 'certspotter', 'crtsh'] as const
export type CtKind = (typeof ctKinds)[number]

/** The public address of each API. */
export const publicCtApis: Readonly<Record<Exclude<CtKind, 'off'>, string>> = {
  certspotter: 'https://api.certspotter.com',
  crtsh: 'https://crt.sh',
}
