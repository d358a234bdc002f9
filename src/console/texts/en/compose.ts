export const compose = {};
