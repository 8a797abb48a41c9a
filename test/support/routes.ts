import type { FastifyInstance } from 'fastify'

/** The view whose URLs stand for those of all views; tests open it. */
export const VIEW = 'a-view'

/** The live routes, from the tree Fastify prints of them, those of views with the name of one. */
export function routesOf (app: FastifyInstance): Array<[method: string, url: string]> {
  const path: string[] = []
  return app.printRoutes({ commonPrefix: false }).split('\n').filter(line => line.includes('── ')).flatMap(line => {
    const [indent = '', rest = ''] = line.split(/[├└]── /)
    const [, segment = '', methods] = /^(\S*)(?: \((.*)\))?$/.exec(rest) ?? []
    path.splice(indent.length / 4, Infinity, segment)
    return (methods?.split(', ') ?? []).map((method): [string, string] => [
      method,
      path.join('').replace(':patchbayView', VIEW)
    ])
  })
}
