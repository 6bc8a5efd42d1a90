/** The API's description, generated from the routes of all plugins, and its page. */
import { definePlugin } from 'archivolt'
import { showContract, showDocs, showSchema } from './routes.ts'

export default definePlugin({
  name: 'openapi',
  routes: [showSchema, showDocs, showContract],
})
