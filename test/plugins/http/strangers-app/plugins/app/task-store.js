import fp from 'fastify-plugin'

/** Keeps tasks in memory, as another application does in a database. */
class TaskStore {
  #tasks = new Map()
  #last = 0

  create (task) {
    const created = { id: ++this.#last, status: 'new', assignee: null, parts: [], secret: 'not for clients', ...task }
    this.#tasks.set(created.id, created)
    return created
  }

  find (id) {
    return this.#tasks.get(id)
  }

  list ({ page, limit, status }) {
    const all = [...this.#tasks.values()].filter(task => status === undefined || task.status === status)
    return { total: all.length, tasks: all.slice((page - 1) * limit, page * limit) }
  }

  change (id, changes) {
    const task = this.#tasks.get(id)
    return task && Object.assign(task, changes)
  }

  remove (id) {
    return this.#tasks.delete(id)
  }
}

export default fp(async app => {
  app.decorate('tasks', new TaskStore())
}, { name: 'task-store' })
