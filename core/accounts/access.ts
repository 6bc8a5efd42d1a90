/** The access levels of routes: each includes all earlier ones. `RouteDefinition` explains them. */
export const ACCESS = ['open', 'viewer', 'user', 'downloader', 'admin'] as const
export type Access = (typeof ACCESS)[number]
