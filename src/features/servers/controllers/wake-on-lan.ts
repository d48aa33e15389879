import { isIPv4 } from 'node:net'
import { Type } from '@sinclair/typebox'
import type { AccountCheck } from '../../../adapters/adapter'
import { destination, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { EgressRefused } from '../../../core/net/egress'
import { invalid } from '../../../core/problem'
import { grouped, Line } from '../../../core/shapes'
import {
  CloudError,
  type AdapterContext,
  type Controller,
  type ControllerCommand,
  type ControllerKind,
  type Started,
} from './controller'
import { portSetting } from './host-settings'
import { broadcastUdp } from './udp'

const defaults = { broadcast: '255.255.255.255', port: 9 } as const

const form = settingsForm({
  mac: Type.String({
    pattern: '^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$',
    'x-rule': 'must be a MAC address, such as 52:54:00:12:34:56.',
    description: 'MAC address of the network interface that wakes the server.',
    examples: ['52:54:00:12:34:56'],
  }),
  ...grouped('Network', {
    broadcast: Type.Optional(
      Line({
        ...destination,
        maxLength: 15,
        default: defaults.broadcast,
        description:
          'Broadcast address of the server’s network, such as `192.168.1.255`. The default reaches the network of the hub’s default route.',
      }),
    ),
    port: portSetting(defaults.port, 'UDP port.'),
    via_agent_id: Type.Optional(
      Type.String({
        pattern: '^agent_[0-9a-z]{26}$',
        'x-rule': 'must be the ID of an agent.',
        description:
          'ID of the agent of another server in the same network, which sends the packet instead of the hub. The owner of that server must allow `wake`.',
      }),
    ),
  }),
})
type WakeOnLanSettings = SettingsOf<typeof form>

/** A packet that an agent is to send. */
export interface PacketOrder {
  agentId: string
  mac: string
  broadcast: string
  port: number
}

/** What an agent has to send, according to settings; null if the hub sends it. */
export function packetByAgent(settings: object): PacketOrder | null {
  const { mac, broadcast = defaults.broadcast, port = defaults.port, via_agent_id: agentId } = settings as WakeOnLanSettings
  return agentId === undefined ? null : { agentId, mac: mac.toLowerCase().replaceAll('-', ':'), broadcast, port }
}

/** Switches a server on with a magic packet. Nobody responds to it. */
export const wakeOnLan: ControllerKind<WakeOnLanSettings> = {
  kind: 'wake_on_lan',
  title: 'Wake-on-LAN',
  ...form,
  verbs: ['power_on'],
  readsPower: false,
  validate({ broadcast = defaults.broadcast }) {
    if (!isIPv4(broadcast))
      throw invalid([{ pointer: '#/settings/broadcast', code: 'format', detail: 'must be an IPv4 address.' }])
  },
  open: (settings, around) => new WakeOnLan(settings, around),
}

class WakeOnLan implements Controller {
  constructor(
    private readonly settings: WakeOnLanSettings,
    private readonly around: AdapterContext,
  ) {}

  /** Only checks whether the packet may be sent. */
  async check(): Promise<AccountCheck> {
    const { broadcast = defaults.broadcast, port = defaults.port, via_agent_id: agentId } = this.settings
    if (agentId !== undefined)
      return { detail: `Magic packets to ${broadcast}, port ${port}, sent by the agent ${agentId}`, warnings: [] }
    try {
      await this.around.vet(broadcast, port, 'udp')
    } catch (error) {
      throw error instanceof EgressRefused ? new CloudError('unreachable', error.message) : error
    }
    return { detail: `Magic packets to ${broadcast}, port ${port}`, warnings: [] }
  }

  async start({ verb }: ControllerCommand): Promise<Started> {
    if (verb !== 'power_on') throw new CloudError('refused', `Wake-on-LAN does not support ${verb}. It supports power_on.`)
    const { mac, broadcast = defaults.broadcast, port = defaults.port } = this.settings
    await broadcastUdp(this.around, broadcast, port, magicPacket(mac), copies)
    return { state: 'done' }
  }

  async poll(): Promise<never> {
    throw new CloudError('invalid_response', 'The stored operation is not of this kind of controller.')
  }
}

// Packets get lost, and a sleeping network interface can't confirm one.
const copies = 3

/** Six octets of ones, and 16 times the MAC address. */
function magicPacket(mac: string): Uint8Array {
  const address = Buffer.from(mac.replaceAll(/[:-]/g, ''), 'hex')
  return Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => address)])
}
