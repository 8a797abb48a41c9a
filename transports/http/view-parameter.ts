import type { FastifyRequest } from 'fastify'

/** What the name of a view is called in the path of a route. No host application has a parameter of that name. */
export const VIEW_PARAMETER = 'patchbayView'

/** The view whose URL the request was sent to; undefined for the whole gateway. */
export const viewOf = ({ params }: FastifyRequest): string | undefined => (params as Record<string, string | undefined>)[VIEW_PARAMETER]
