/**
 * The access levels of routes, from everybody to admins: each level includes all earlier ones. `RouteDefinition`
 * explains each.
 */
export const ACCESS = ['open', 'viewer', 'user', 'downloader', 'admin'] as const
export type Access = (typeof ACCESS)[number]
