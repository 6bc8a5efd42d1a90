/** Tests an external URL before a task uses it (contract B). */
import { defineRoute, errors, isAppError, say, Type } from 'archivolt'
import type { App } from './app.ts'

export const testOutgoing = defineRoute({
  method: 'POST',
  path: '/api/schedule/notification/test/',
  access: 'admin',
  summary: 'Send a message to a URL now, to see whether it arrives',
  body: Type.Object({
    url: Type.String({
      minLength: 1,
      maxLength: 2000,
      pattern: '^([A-Za-z][A-Za-z0-9+.-]*://|mailto:)[^\\s\\x00-\\x1f\\x7f-\\x9f]+$',
      examples: ['https://example.org/hook'],
    }),
    task_name: Type.Optional(Type.String({ maxLength: 128 })),
  }),
  reply: Type.Object({ success: Type.Literal(true), message: Type.String() }),
  errors: ['bad_request'],
  async handle({ body: { url, task_name } }, app: App) {
    const task = task_name ? app.registry.tasks.get(task_name) : undefined
    if (task_name && !task?.outgoing)
      throw errors.badRequest(say`${{ task_name }} does not send notifications`, {
        fields: { task_name: 'is not a task that sends notifications' },
      })
    const title = task ? `[Archivolt] ${task.title}: a test` : '[Archivolt] A test'
    try {
      await app.outgoing.deliver(url, {
        title,
        body: 'This is a test: outgoing notifications arrive here.',
        kind: 'info',
      })
    } catch (error) {
      if (!isAppError(error)) throw error
      throw errors.badRequest(error.words, { cause: error })
    }
    return { success: true, message: 'The message was delivered' }
  },
})
