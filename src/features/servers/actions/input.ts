import type { CommandParams } from '../../../wire/agent-command'
import type { ServerCommand, ServerOrder, ServerVerb } from '../clouds/cloud'
import type { ServerOrderView, ServerStatus } from '../shapes'

export type PlainCommand = Exclude<ServerCommand, { verb: 'provision' }>
/** What only agents can do. */
type AgentOnlyCommand =
  { verb: 'restart_unit'; unit: string } | { verb: 'collect' } | { verb: 'update_agent'; program: CommandParams['update'] }

/** What an action was asked to do. */
export type ServerActionInput = {
  verb: ServerVerb
  /** `cloud`, `agent`, or the kind of the controller that performs it. */
  via: string
  /** For all verbs but `provision`. Without user data, which is stored with the server. */
  command: PlainCommand | null
  /** For verbs that only agents can perform. */
  agentCommand?: AgentOnlyCommand
  /** What is done before and after it. The last one also follows if the command fails. */
  before?: PlainCommand[]
  after?: PlainCommand[]
  /** For `provision`: without user data, which is stored with the server. */
  order: (Omit<ServerOrder, 'userData' | 'ref' | 'firewalls'> & { fallbackLocations: string[] }) | null
  /** What the price depends on; null if the action doesn’t change it. */
  priced: Pick<ServerOrderView, 'size' | 'location' | 'enable_ipv4' | 'backups'> | null
  /** Highest price to pay, in millionths per month; null for free or unknown prices. */
  maxPriceMicros: number | null
  /** Whether the user data of the server is sent with the command. */
  sendsUserData: boolean
  /** Status before the action. */
  statusBefore: ServerStatus
  /** The price before, and the one that is reserved while the action runs; null if it doesn't change the price. */
  prices: { before: number | null; after: number | null } | null
}
