import { loopback } from './ports'
import type { Scenario } from './scenario'

const key = 'changeme-7b13d8'

/** Schedules the registrar account, whose domains follow with the first sync. */
export function scheduleRegistrarAccount({ simulation, people: { ada }, servers, ago }: Scenario): void {
  const base_url = `http://${loopback}:${servers.ports.registrar}/porkbun`
  const settings = { api_key: `pk1_${key}`, secret_api_key: `sk1_${key}`, base_url }
  simulation.schedule(ago(40), () => ada.call('POST', '/v1/registrar-accounts', { kind: 'porkbun', name: 'Porkbun', settings }))
}
