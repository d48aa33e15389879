import type { X509Certificate } from 'node:crypto'
import { version } from '../../../../core/version'
import start from './start.sh' with { type: 'text' }
import facts from './facts.sh' with { type: 'text' }
import measure from './measure.sh' with { type: 'text' }
import report from './report.sh' with { type: 'text' }
import install from './install.sh' with { type: 'text' }
import main from './main.sh' with { type: 'text' }

/**
 * The agent for routers and small boards, as one shell script. Its last part runs it, so that nothing runs if the script is incomplete.
 * @param certificate of the hub, if no certificate authority confirms it
 */
export const shellAgent = (certificate: X509Certificate | null): string =>
  [start, facts, measure, report, install, main]
    .join('\n')
    .replace('@version@', version)
    .replace('@certificate@', certificate?.toString().trim() ?? '')
