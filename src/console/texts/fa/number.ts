export const number = new Intl.NumberFormat('fa');
