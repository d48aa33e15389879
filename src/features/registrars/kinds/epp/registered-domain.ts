import { childOf, childrenOf, childText, type XmlElement } from '../../../../adapters/xml'
import { rdapStatuses } from '../../../registry/statuses'
import type { DsRecord, GlueHost, Held } from '../../registrar'
import { addressesOf, dsRecordOf } from '../delegation'
import { heldStatus } from '../held-status'
import { dateOf, nameOf } from '../responses'
import { ns } from './commands'
import { invalidResponse, type EppResponse } from './responses'

/** A domain, as the registry knows it (RFC 5731 section 3.1.2). */
export interface RegisteredDomain {
  held: Held
  /** Id of the registrar. */
  registrar: string | null
  /** Name servers below the domain, whose addresses the registry publishes. */
  hosts: string[]
}

/** More are not read. */
const maxHosts = 50
const maxDs = 50

/**
 * @param name that was asked for
 * @param hasDs whether the server reports DS records
 * @param now ms UTC
 * @throws RegistrarError `invalid_response`
 */
export function registeredDomainOf(
  { data, extension }: EppResponse,
  name: string,
  hasDs: boolean,
  now: number,
): RegisteredDomain {
  const domain = childOf(data, 'infData', ns.domain)
  if (!domain) throw invalidResponse('has no domain')
  if (nameOf(childText(domain, 'name')) !== name) throw invalidResponse('is about another domain')
  const statuses = childrenOf(domain, 'status').flatMap(one => one.attributes.get('s') ?? [])
  const graces = childrenOf(childOf(extension, 'infData', ns.rgp), 'rgpStatus').flatMap(one => one.attributes.get('s') ?? [])
  const eppStatuses = rdapStatuses([...statuses, ...graces])
  const expiresAt = dateOf(childText(domain, 'exDate'))
  return {
    held: {
      name,
      status: heldStatus(eppStatuses, expiresAt, now),
      eppStatuses,
      registeredAt: dateOf(childText(domain, 'crDate')),
      expiresAt,
      // EPP has no command for it.
      autoRenew: null,
      locked: statuses.some(one => /^(client|server)TransferProhibited$/.test(one)),
      privacy: null,
      nameservers: nameserversOf(childOf(domain, 'ns')),
      ds: hasDs ? dsOf(childOf(extension, 'infData', ns.secDns)) : null,
      glue: null,
      renewalPrice: null,
      capabilities: null,
    },
    registrar: childText(domain, 'clID'),
    hosts: childrenOf(domain, 'host')
      .slice(0, maxHosts)
      .flatMap(one => nameOf(one.text) ?? []),
  }
}

/** Addresses of a host (RFC 5732 section 3.1.2). @throws RegistrarError `invalid_response` */
export function glueOf({ data }: EppResponse, name: string): GlueHost {
  const host = childOf(data, 'infData', ns.host)
  if (!host || nameOf(childText(host, 'name')) !== name) throw invalidResponse('is about another host')
  const addresses = addressesOf(childrenOf(host, 'addr').map(one => one.text))
  if (!addresses) throw invalidResponse('has an invalid address')
  return { name, addresses }
}

/** Names in either form: references to hosts, or hosts with their addresses (RFC 5731 section 1.1). */
function nameserversOf(element: XmlElement | null): string[] {
  const names = [
    ...childrenOf(element, 'hostObj').map(one => one.text),
    ...childrenOf(element, 'hostAttr').map(one => childText(one, 'hostName')),
  ]
  return [...new Set(names.slice(0, maxHosts).flatMap(one => nameOf(one) ?? []))]
}

/** DS records (RFC 5910 section 3). Null if the registry has keys, from which it creates them itself. */
function dsOf(element: XmlElement | null): DsRecord[] | null {
  const records = childrenOf(element, 'dsData').slice(0, maxDs)
  if (records.length === 0) return childOf(element, 'keyData') ? null : []
  return records.map(one => {
    const record = dsRecordOf({
      keyTag: childText(one, 'keyTag'),
      algorithm: childText(one, 'alg'),
      digestType: childText(one, 'digestType'),
      digest: childText(one, 'digest'),
    })
    if (!record) throw invalidResponse('has an invalid DS record')
    return record
  })
}
