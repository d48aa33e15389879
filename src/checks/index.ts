import type { CheckType } from './check'
import { http } from './http'
import { dns } from './dns'
import { icmp } from './icmp'
import { imap } from './imap'
import { pop3 } from './pop3'
import { smtp } from './smtp'
import { ssh } from './ssh'
import { tcp } from './tcp'
import { tls } from './tls'
import { websocket } from './websocket'

/** Every type of check, in display order. To add one, add its file and list it here. */
export const checkTypes: readonly CheckType[] = [http, tcp, icmp, dns, tls, smtp, imap, pop3, ssh, websocket]

/** A type by name; undefined for groups and for types this version does not know. */
export const checkTypeOf = (name: string): CheckType | undefined => checkTypes.find(one => one.name === name)
