import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config'
import { loopback } from './ports'
import { dayMs } from './time-units'

/** Names that are reserved for documentation (RFC 2606), and the days until their registrations end. */
const domains = { 'example.com': 211, 'example.net': 12, 'example.org': 94 }

/** The account of the demo at Porkbun, and the RDAP servers of its domains. @param now ms UTC */
export function demoRegistrar(now: number): { handle(request: Request): Response } {
  const endOf = (days: number) => new Date(now + days * dayMs)
  const registeredAt = new Date(now - 2000 * dayMs)
  const rdap = (name: string, days: number) => ({
    ...{ objectClassName: 'domain', ldhName: name, status: ['client transfer prohibited'] },
    events: [
      { eventAction: 'registration', eventDate: registeredAt.toISOString() },
      { eventAction: 'expiration', eventDate: endOf(days).toISOString() },
    ],
    nameservers: ['ns1.example.net', 'ns2.example.net'].map(ldhName => ({ objectClassName: 'nameserver', ldhName })),
    entities: [
      {
        ...{ objectClassName: 'entity', roles: ['registrar'], publicIds: [{ type: 'IANA Registrar ID', identifier: '1861' }] },
        vcardArray: ['vcard', [['fn', {}, 'text', 'Porkbun LLC']]],
      },
    ],
  })
  const held = (domain: string, days: number) => ({
    ...{ domain, status: 'ACTIVE', createDate: porkbunDate(registeredAt), expireDate: porkbunDate(endOf(days)) },
    ...{ securityLock: 1, whoisPrivacy: 1, autoRenew: domain === 'example.com' ? 1 : 0, notLocal: 0, apiAccess: 1 },
  })
  const all = Object.entries(domains)
  return {
    handle(request) {
      const { pathname, searchParams } = new URL(request.url)
      const [path, name] = [pathname.slice(0, pathname.lastIndexOf('/')), pathname.slice(pathname.lastIndexOf('/') + 1)]
      const found = all.find(([domain]) => domain === name)
      if (path === '/rdap/domain')
        return Response.json(found ? rdap(...found) : { errorCode: 404 }, {
          status: found ? 200 : 404,
          headers: { 'content-type': 'application/rdap+json' },
        })
      if (pathname === '/porkbun/account/balance') return Response.json({ status: 'SUCCESS', balance: 4120 })
      if (pathname === '/porkbun/domain/listAll')
        return Response.json({
          status: 'SUCCESS',
          domains: searchParams.get('start') === '0' ? all.map(one => held(...one)) : [],
        })
      if (path === '/porkbun/domain/get' && found) return Response.json({ status: 'SUCCESS', domain: held(...found) })
      if (path === '/porkbun/domain/getNs' && found)
        return Response.json({ status: 'SUCCESS', ns: ['ns1.example.net', 'ns2.example.net'] })
      return Response.json({ status: 'ERROR', code: 'INVALID_DOMAIN', message: 'Invalid domain.' }, { status: 400 })
    },
  }
}

/** `2027-04-02 10:11:12` */
const porkbunDate = (date: Date): string => date.toISOString().slice(0, 19).replace('T', ' ')

/** Writes the file with which a hub asks the servers of the demo about its domains. @returns its path */
export function writeRegistryFile({ data }: Config, port: number): string {
  const file = join(data, 'registries.json')
  const tlds = Object.keys(domains).map(name => name.slice(name.indexOf('.') + 1))
  writeFileSync(file, JSON.stringify({ sources: [{ tlds, kind: 'rdap', url: `http://${loopback}:${port}/rdap/` }] }))
  return file
}
