import type { Command } from 'commander'
import { loadConfig, settings, type Config } from '../core/config'

/** Flags that stand for settings, as commander hands them over. */
export interface SettingFlags {
  data?: string
  listen?: string
  dnsListen?: string
}

/** Adds --data to a command that opens the database. */
export const withData = (command: Command): Command => command.option('--data <dir>', described(settings.data))

/** Adds --listen to a command that needs to know where the hub serves. */
export const withListen = (command: Command): Command => command.option('--listen <host:port>', described(settings.listen))

/** Adds --dns-listen to the command that runs the name server. */
export const withDnsListen = (command: Command): Command =>
  command.option('--dns-listen <host:port>', described(settings.dnsListen))

/**
 * The settings of a command: its flags, then the environment.
 * @throws BadSetting
 */
export const readConfig = ({ data, listen, dnsListen }: SettingFlags): Config =>
  loadConfig({
    ...(data !== undefined && { data }),
    ...(listen !== undefined && { listen }),
    ...(dnsListen !== undefined && { dnsListen }),
  })

const described = (setting: { meaning: string; default: string }) =>
  `${setting.meaning.replace(/\.$/, '')} (default ${setting.default})`
