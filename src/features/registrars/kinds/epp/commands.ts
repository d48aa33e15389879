import { xmlText } from '../../../../adapters/xml'

/** Namespaces of EPP. */
export const ns = {
  /** RFC 5730 */
  epp: 'urn:ietf:params:xml:ns:epp-1.0',
  /** RFC 5731 */
  domain: 'urn:ietf:params:xml:ns:domain-1.0',
  /** RFC 5732 */
  host: 'urn:ietf:params:xml:ns:host-1.0',
  /** RFC 5733 */
  contact: 'urn:ietf:params:xml:ns:contact-1.0',
  /** RFC 3915 */
  rgp: 'urn:ietf:params:xml:ns:rgp-1.0',
  /** RFC 5910 */
  secDns: 'urn:ietf:params:xml:ns:secDNS-1.1',
  /** RFC 8748 */
  fee: 'urn:ietf:params:xml:ns:epp:fee-1.0',
} as const

/** What is used of a server that offers it. */
const usedObjects: readonly string[] = [ns.domain, ns.host, ns.contact]
const usedExtensions: readonly string[] = [ns.rgp, ns.secDns, ns.fee]

/** A command: the element, and elements of extensions. */
export interface EppCommand {
  command: string
  extension?: string
}

/** What a server offers, as in its greeting. */
export interface EppServices {
  /** URIs. */
  objects: readonly string[]
  extensions: readonly string[]
  language: string
}

const document = (inner: string): string =>
  `<?xml version="1.0" encoding="UTF-8" standalone="no"?><epp xmlns="${ns.epp}">${inner}</epp>`

/** Asks for the greeting (RFC 5730 section 2.3). */
export const helloMessage = document('<hello/>')

/** @param id identifies the command in the logs of the server, and its response */
export const commandMessage = ({ command, extension }: EppCommand, id: string): string =>
  document(
    `<command>${command}${extension === undefined ? '' : `<extension>${extension}</extension>`}<clTRID>${id}</clTRID></command>`,
  )

/** @param newPassword replaces the password */
export function loginCommand(
  { user, password, newPassword }: { user: string; password: string; newPassword?: string | undefined },
  { objects, extensions, language }: EppServices,
): EppCommand {
  const uris = (name: string, used: readonly string[], offered: readonly string[]) =>
    used
      .filter(one => offered.includes(one))
      .map(one => `<${name}>${one}</${name}>`)
      .join('')
  const extensionUris = uris('extURI', usedExtensions, extensions)
  return {
    command: [
      `<login><clID>${xmlText(user)}</clID><pw>${xmlText(password)}</pw>`,
      newPassword === undefined ? '' : `<newPW>${xmlText(newPassword)}</newPW>`,
      `<options><version>1.0</version><lang>${xmlText(language)}</lang></options>`,
      `<svcs>${uris('objURI', usedObjects, objects)}`,
      `${extensionUris === '' ? '' : `<svcExtension>${extensionUris}</svcExtension>`}</svcs></login>`,
    ].join(''),
  }
}

export const logoutCommand: EppCommand = { command: '<logout/>' }

/** Looks at the first message of the queue, without removing it (RFC 5730 section 2.9.2.3). */
export const pollCommand: EppCommand = { command: '<poll op="req"/>' }

export const domainInfoCommand = (name: string): EppCommand => ({
  command: `<info><domain:info xmlns:domain="${ns.domain}"><domain:name hosts="all">${xmlText(name)}</domain:name></domain:info></info>`,
})

export const hostInfoCommand = (name: string): EppCommand => ({
  command: `<info><host:info xmlns:host="${ns.host}"><host:name>${xmlText(name)}</host:name></host:info></info>`,
})

/** Commands whose prices are asked for. */
const pricedCommands = ['create', 'renew', 'transfer', 'restore'] as const

/** @param currency of the prices; null for the default of the server; undefined to ask for no prices */
export function domainCheckCommand(names: readonly string[], currency: string | null | undefined): EppCommand {
  const items = names.map(name => `<domain:name>${xmlText(name)}</domain:name>`).join('')
  const command = `<check><domain:check xmlns:domain="${ns.domain}">${items}</domain:check></check>`
  if (currency === undefined) return { command }
  const commands = pricedCommands.map(name =>
    name === 'restore'
      ? '<fee:command name="restore"/>'
      : `<fee:command name="${name}"><fee:period unit="y">1</fee:period></fee:command>`,
  )
  const code = currency === null ? '' : `<fee:currency>${currency}</fee:currency>`
  return { command, extension: `<fee:check xmlns:fee="${ns.fee}">${code}${commands.join('')}</fee:check>` }
}
