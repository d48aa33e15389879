import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { readSeries } from './series/points'
import { readRecent } from './series/recent'
import { listResults } from './series/results'
import {
  MonitorRecentList,
  MonitorResultList,
  MonitorSeries,
  MonitorTransitionList,
  MonitorUptime,
  RecentQuery,
  ResultsQuery,
  SeriesQuery,
  UptimeQuery,
} from './series/shapes'
import { listTransitions, transitionListing } from './series/transitions'
import { readUptime } from './series/uptime-report'

const guard = 'monitoring.read'

export const monitorSeriesRoutes = area('monitor-series', 'Monitors', [
  route({
    method: 'GET',
    path: '/v1/monitors/recent',
    guard,
    operationId: 'listRecentResults',
    summary: 'Read how some monitors did lately',
    description:
      'The last 30 checks of up to 100 monitors, and their uptime of the last 24 hours, in one answer: what the rows of a list show. ' +
      'Checks of the last day at most.',
    query: RecentQuery,
    answer: MonitorRecentList,
    run: (ctx, { query }) => readRecent(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/results',
    guard,
    operationId: 'listMonitorResults',
    summary: 'List results of checks',
    description: 'What each check of a monitor came to, newest first; kept for `monitor_results_days` of the plan.',
    query: ResultsQuery,
    answer: MonitorResultList,
    run: (ctx, { params, query }) => listResults(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/series',
    guard,
    operationId: 'getMonitorSeries',
    summary: 'Read how a monitor did over time',
    description:
      'Points for a chart: how long checks took, or a part of them, with the mean and percentiles; or how much of the time it was up. ' +
      'Hours are kept for 100 days, days as long as the monitor.',
    query: SeriesQuery,
    answer: MonitorSeries,
    run: (ctx, { params, query }) => readSeries(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/uptime',
    guard,
    operationId: 'getMonitorUptime',
    summary: 'Read the uptime of a monitor',
    description:
      'How much of a window it was up, weighted by time from its changes of status: not by counting checks. With its days and months ' +
      'in a time zone, its outages, and the error budget of an objective. Maintenance, pauses and times in which nobody checked are ' +
      'shown and do not count.',
    query: UptimeQuery,
    answer: MonitorUptime,
    run: (ctx, { params, query }) => readUptime(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/transitions',
    guard,
    operationId: 'listMonitorTransitions',
    summary: 'List changes of status',
    description: 'Changes of what a monitor is shown as, newest first; kept as long as the monitor.',
    query: listQuery(transitionListing),
    answer: MonitorTransitionList,
    run: (ctx, { params, query }) => listTransitions(ctx, params.id!, query),
  }),
])
