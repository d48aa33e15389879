import type { Command } from 'commander'
import { loadConfig, settings, type Config } from '../core/config'

/** Flags that override settings, as parsed by commander. */
export interface SettingFlags {
  data?: string
  listen?: string
  dnsListen?: string
}

/** Adds --data, for commands that open the database. */
export const withData = (command: Command): Command => command.option('--data <dir>', described(settings.data))

/** Adds --listen, for commands that need the address of the hub. */
export const withListen = (command: Command): Command => command.option('--listen <host:port>', described(settings.listen))

/** Adds --dns-listen, for commands that run the name server. */
export const withDnsListen = (command: Command): Command =>
  command.option('--dns-listen <host:port>', described(settings.dnsListen))

/**
 * Loads the settings from flags and the environment.
 * @throws InvalidSetting
 */
export const readConfig = ({ data, listen, dnsListen }: SettingFlags): Config =>
  loadConfig({
    ...(data !== undefined && { data }),
    ...(listen !== undefined && { listen }),
    ...(dnsListen !== undefined && { dnsListen }),
  })

const described = (setting: { description: string; default: string }) =>
  `${setting.description.replace(/\.$/, '')} (default: ${setting.default})`
