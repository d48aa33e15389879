import { configValues, type ClientConfig, type ConfiguredSource, type ConfigValues } from './client-config'
import { curlWithCron, curlWithSystemd } from './curl'
import { ddclient3, ddclient4 } from './ddclient'
import { inadyn } from './inadyn'
import { fritzBox, openWrt, opnSense, pfSense, routerOs, synology, uniFi } from './routers'

const clients: ((values: ConfigValues) => ClientConfig)[] = [
  fritzBox,
  uniFi,
  opnSense,
  pfSense,
  openWrt,
  routerOs,
  synology,
  ddclient3,
  ddclient4,
  inadyn,
  curlWithCron,
  curlWithSystemd,
]

/** The configuration of each known client for a source, with a placeholder for the token. */
export function clientConfigs(source: ConfiguredSource): ClientConfig[] {
  const values = configValues(source)
  return clients.map(client => client(values))
}
