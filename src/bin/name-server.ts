import { runNameServer } from '../features/dns/server/thread'

runNameServer()
