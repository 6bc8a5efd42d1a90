/**
 * The kinds of callers that a route is open to, from everybody to admins: who is named later in the list may do all
 * that is open to who is named earlier. `RouteDefinition` explains each.
 */
export const ACCESS = ['open', 'viewer', 'user', 'downloader', 'admin'] as const
export type Access = (typeof ACCESS)[number]
