/**
 * How long a hook may take when the server closes. Fastify gives it up as it gives up a plugin that does not start, so we have to be
 * ready well before.
 */
export const closeHookBudget = (pluginTimeout = 0): number => pluginTimeout === 0 ? Infinity : pluginTimeout * 0.8
