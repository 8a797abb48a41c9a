import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { scopeChallenge, type FlatOptions } from './options.js'
import { overriddenOptions } from './options/embedded.js'
import { servesMetrics } from './options/exposure.js'
import cancellation from './plugins/capabilities/cancellation.js'
import completion from './plugins/capabilities/completion.js'
import elicitation from './plugins/capabilities/elicitation.js'
import lifecycle from './plugins/capabilities/handshake.js'
import logging from './plugins/capabilities/logging.js'
import pagination from './plugins/capabilities/pagination.js'
import prompts from './plugins/capabilities/prompts.js'
import resources from './plugins/capabilities/resources.js'
import roots from './plugins/capabilities/roots.js'
import sampling from './plugins/capabilities/sampling.js'
import servers from './plugins/capabilities/servers.js'
import skills from './plugins/capabilities/skills.js'
import subscriptions from './plugins/capabilities/subscriptions.js'
import tasks from './plugins/capabilities/tasks.js'
import tools from './plugins/capabilities/tools.js'
import completeness from './plugins/core/completeness.js'
import health from './plugins/core/health.js'
import hops from './plugins/core/hops.js'
import mcp from './plugins/core/mcp.js'
import nodeCalls from './plugins/core/node-calls.js'
import scopes from './plugins/core/scopes.js'
import storedTasks from './plugins/core/stored-tasks.js'
import unavailable from './plugins/core/unavailable.js'
import views from './plugins/core/views.js'
import additions from './plugins/curation/additions.js'
import costs from './plugins/curation/costs.js'
import patience from './plugins/curation/patience.js'
import results from './plugins/curation/results.js'
import search from './plugins/curation/search.js'
import curation from './plugins/curation/views.js'
import access from './plugins/trust/access.js'
import approvals from './plugins/trust/approvals.js'
import rules from './plugins/trust/rules.js'
import allTasks from './plugins/observability/all-tasks.js'
import audit from './plugins/observability/audit.js'
import tracing from './plugins/observability/tracing.js'
import watch from './plugins/observability/watch.js'
import pressure from './plugins/security/pressure.js'
import rateLimiter from './plugins/security/rate-limiter.js'
import { LIMITS } from './protocol/wire/limits.js'
import { openStore } from './stores/open-store.js'
import upstreams from './upstreams/plugin.js'
import { version } from './version.js'

const TASK_LIMITS = [
  'maxTasks', 'maxTasksPerPrincipal', 'taskTtl', 'maxTaskTtl', 'taskRetention', 'maxTaskResult',
  'maxResultBytes', 'maxAllResultBytes'
] as const satisfies Array<keyof FlatOptions>

/**
 * Registers the dispatcher with its store, then each MCP capability, in the order in which they need each other: every
 * gateway has them, whatever serves it.
 */
export const gateway = fp(async (fastify: FastifyInstance, options: FlatOptions & { standalone: boolean }) => {
  const { name, instructions, pageSize, maxCapabilities, standalone, secret } = options
  for (const sentence of overriddenOptions(options)) fastify.log.warn(sentence)
  const measuring = servesMetrics(options, standalone) ? await import('./plugins/observability/metrics.js') : undefined
  const measured = measuring && new measuring.StoreMetrics()
  const opened = await openStore(options, sentence => fastify.log.warn(sentence))
  const store = measured === undefined
    ? opened
    : (await import('./stores/observed.js')).observeStore(opened, measured.observerOf(opened.kind))
  await fastify.register(mcp, {
    info: { name, version },
    ...(instructions === undefined ? {} : { instructions }),
    secret,
    standalone,
    store,
    limits: pick(options, Object.keys(LIMITS) as Array<keyof typeof LIMITS>),
    challenge: scopes => scopeChallenge(fastify, options, scopes)
  })
  await fastify.register(nodeCalls)
  await fastify.register(storedTasks, pick(options, TASK_LIMITS))
  await fastify.register(unavailable)
  if (options.audit) await fastify.register(audit)
  await fastify.register(tracing, { traces: options.traces })
  if (measuring !== undefined && measured !== undefined) {
    await fastify.register(measuring.default, { store: measured, version })
  }
  await fastify.register(health)
  await fastify.register(pressure, pick(options, ['maxEventLoopDelay', 'maxHeap', 'maxRss']))
  await fastify.register(scopes, { scopes: options.scopes })
  await fastify.register(views)
  for (const plugin of [completeness, hops]) await fastify.register(plugin)
  await fastify.register(lifecycle, { maxCapabilities })
  for (const plugin of [logging, cancellation]) await fastify.register(plugin)
  await fastify.register(subscriptions, {
    maxSubscriptions: options.maxSubscriptions,
    maxSubscriptionText: options.maxSubscriptionText
  })
  await fastify.register(pagination, { pageSize })
  await fastify.register(resources, {
    maxSubscriptions: options.maxSubscriptions,
    maxSubscriptionText: options.maxSubscriptionText,
    maxUri: options.maxUri
  })
  await fastify.register(skills, { pageSize })
  for (const plugin of [tools, prompts, completion, sampling, elicitation, roots, tasks]) await fastify.register(plugin)
  await fastify.register(rules, pick(options, ['rules', 'rulesDefault']))
  await fastify.register(additions)
  await fastify.register(approvals, pick(options, [
    'maxApprovals', 'maxApprovalsPerCaller', 'maxApprovalText', 'approvalWebhook', 'rules'
  ]))
  await fastify.register(results, pick(options, ['maxResultBytes', 'maxAllResultBytes']))
  await fastify.register(patience)
  await fastify.register(rateLimiter, options)
  await fastify.register(upstreams, options)
  for (const plugin of [servers, allTasks, access]) await fastify.register(plugin)
  await fastify.register(search)
  await fastify.register(curation, { maxMcpConfig: options.maxMcpConfig })
  await fastify.register(costs)
  await fastify.register(watch, { maxQueue: options.maxQueue })
})

function pick<T extends object, K extends keyof T> (all: T, names: K[]): Pick<T, K> {
  return Object.fromEntries(names.map(name => [name, all[name]])) as Pick<T, K>
}
