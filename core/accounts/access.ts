/** Who may use a route, each with all that stand after them; what they are, `RouteDefinition` says. */
export const ACCESS = ['open', 'viewer', 'user', 'downloader', 'admin'] as const
export type Access = (typeof ACCESS)[number]
