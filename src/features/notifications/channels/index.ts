import type { ChannelKind } from './channel'
import { discord } from './discord'
import { email } from './email'
import { ntfy } from './ntfy'
import { slack } from './slack'
import { telegram } from './telegram'
import { webhook } from './webhook'

/** All channel types. */
export const channelKinds: readonly ChannelKind[] = [email, slack, discord, telegram, ntfy, webhook]

/** Undefined for a type that only another version of Bailiwick supports. */
export const channelKindOf = (kind: string): ChannelKind | undefined => channelKinds.find(one => one.kind === kind)
